import type { WorkflowHandle } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { CLIENT_LIMITS } from '../../contracts/constants/limits.js';
import { AGENT_RUN } from '../../contracts/handlers.js';
import type { TypedRunInput } from '../../contracts/json/output-schema.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { JsonValue } from '../../contracts/schemas/message.js';
import type { RunInput } from '../../contracts/schemas/run.js';
import type { TemporalAccess } from '../temporal/connection.js';
import { checkInputSize, checkRunId, checkRunInput } from '../validate/run-input.js';
import { memoOf, newRunId, RunMemo, summarizeRun } from './run-summary.js';

/** The input of a run, with an optional ID. @default id the start time and a random part */
export type StartInput<Structured = JsonValue> = TypedRunInput<Structured> & { readonly id?: string };

/** A started run. `duplicate`: a run with the same ID and input already existed. */
export interface StartedRun {
  readonly handle: WorkflowHandle;
  readonly executionId: string;
  readonly duplicate: boolean;
}

/** A validated input with its run ID. */
export interface CheckedStart {
  readonly id: string;
  readonly input: RunInput;
}

/** Validates a start without the server. Throws as `checkRunInput` and `checkRunId` do. */
export function checkStart(given: StartInput | Readonly<Record<string, unknown>>): CheckedStart {
  const { id, ...rest } = given;
  return { id: id === undefined ? newRunId() : checkRunId(id), input: checkRunInput(rest) };
}

/**
 * Starts a run, once per ID. If a run with the same ID and input exists, attaches to it. Throws `RUN_EXISTS` (exit 4) for the same ID
 * with different input, and `MESSAGE_TOO_LARGE` (exit 2) before anything is sent.
 */
export async function startRun(access: TemporalAccess, checked: CheckedStart): Promise<StartedRun> {
  const { id, input } = checked;
  checkInputSize(input, access.inputBytesMax);
  try {
    const handle = await access.client.withDeadline(Date.now() + CLIENT_LIMITS.connectTimeoutMs, () => sendStart(access, checked));
    return { handle: access.client.workflow.getHandle(id), executionId: handle.firstExecutionRunId, duplicate: false };
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return await attach(access, checked);
    throw access.translate(error, id);
  }
}

async function sendStart(access: TemporalAccess, { id, input }: CheckedStart): Promise<{ readonly firstExecutionRunId: string }> {
  const auth = input.auth ?? (await access.sign({ verb: 'start', runId: id, input }));
  return await access.client.workflow.start(AGENT_RUN, {
    workflowId: id,
    taskQueue: access.taskQueue,
    args: [auth === undefined ? input : { ...input, auth }],
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    memo: { ...memoOf(input) },
    ...summarizeRun(input),
  });
}

async function attach(access: TemporalAccess, { id, input }: CheckedStart): Promise<StartedRun> {
  const handle = access.client.workflow.getHandle(id);
  const existing = await access.ask(() => handle.describe(), id);
  const memo = RunMemo.safeParse(existing.memo);
  if (memo.success && memo.data.inputHash === memoOf(input).inputHash) return { handle, executionId: existing.runId, duplicate: true };
  throw new PerdureError(
    'RUN_EXISTS',
    `run ${id} already exists with different input; use another ID, or follow it with 'perdure watch ${id}'`,
    4,
  );
}
