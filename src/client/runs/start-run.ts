import type { WorkflowHandle } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { CLIENT_LIMITS } from '../../contracts/constants/limits.js';
import { AGENT_RUN } from '../../contracts/handlers.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { RunInput } from '../../contracts/schemas/run.js';
import type { TemporalAccess } from '../temporal/connection.js';
import { checkInputSize, checkRunId, checkRunInput } from '../validate/run-input.js';
import { memoOf, newRunId, RunMemo, summarizeRun } from './run-summary.js';

/** A run's input, and the id it shall have. @default id made from the time and a random part */
export type StartInput = RunInput & { readonly id?: string };

/** A started run. `duplicate`: it was there already, with the same input. */
export interface StartedRun {
  readonly handle: WorkflowHandle;
  readonly executionId: string;
  readonly duplicate: boolean;
}

/** An input that may be sent, under its id. */
export interface CheckedStart {
  readonly id: string;
  readonly input: RunInput;
}

/** Checks everything about a start that needs no server. Throws as `checkRunInput` and `checkRunId` do. */
export function checkStart(given: StartInput | Readonly<Record<string, unknown>>): CheckedStart {
  const { id, ...rest } = given;
  return { id: id === undefined ? newRunId() : checkRunId(id), input: checkRunInput(rest) };
}

/**
 * Starts a run, once per id: the same id with the same input attaches to the run that is there. Throws `RUN_EXISTS` (exit 4) for the same
 * id with another input, and `MESSAGE_TOO_LARGE` (exit 2) before anything is sent.
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

function sendStart(access: TemporalAccess, { id, input }: CheckedStart): Promise<{ readonly firstExecutionRunId: string }> {
  return access.client.workflow.start(AGENT_RUN, {
    workflowId: id,
    taskQueue: access.taskQueue,
    args: [input],
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    memo: { ...memoOf(input) },
    ...summarizeRun(input),
  });
}

async function attach(access: TemporalAccess, { id, input }: CheckedStart): Promise<StartedRun> {
  const handle = access.client.workflow.getHandle(id);
  const there = await access.ask(() => handle.describe(), id);
  const memo = RunMemo.safeParse(there.memo);
  if (memo.success && memo.data.inputHash === memoOf(input).inputHash) return { handle, executionId: there.runId, duplicate: true };
  throw new PerdureError('RUN_EXISTS', `run ${id} is there with another input; choose another id, or 'perdure watch ${id}'`, 4);
}
