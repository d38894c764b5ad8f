import type { WorkflowExecutionDescription, WorkflowHandle } from '@temporalio/client';
import { CLIENT_LIMITS } from '../../contracts/constants/limits.js';
import { setup as setupQuery } from '../../contracts/handlers.js';
import type { OutputSchema } from '../../contracts/json/output-schema.js';
import { toolCallsOf } from '../../contracts/message-text.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { GivenMessage, JsonValue, Message } from '../../contracts/schemas/message.js';
import { RunInput } from '../../contracts/schemas/run.js';
import type { TemporalAccess } from '../temporal/connection.js';
import { readTranscript, readUnread } from '../temporal/read-messages.js';
import { awaitResult } from '../watch/await-result.js';
import { RunMemo } from './run-summary.js';
import { checkStart, type StartedRun, type StartInput, startRun } from './start-run.js';

/** The input fields that a continuation can change. */
type Changeable =
  | 'model'
  | 'fallbacks'
  | 'thinking'
  | 'maxTurns'
  | 'maxTokens'
  | 'maxCostUsd'
  | 'deadlineMs'
  | 'mode'
  | 'onBudget'
  | 'allowUnknownPrice';

/** Options of a continuation: a new task and new limits. Other fields are copied from the closed run. */
export interface ContinueOptions<Structured = JsonValue> extends Partial<Pick<RunInput, Changeable>> {
  /** A schema of zod 4, or JSON Schema. @default that of the closed run */
  readonly outputSchema?: OutputSchema<Structured> | undefined;
  /** @default `Continue.` */
  readonly text?: string;
}

/** A bound for the search of a free ID. */
const CONTINUATIONS_MAX = 1_000;

/**
 * Continues a closed run as `RUN.2`, `RUN.3` … Its messages are the system messages of the closed run, its transcript, its unconsumed
 * messages, and the new task. With the same task and options the same run is found again (`duplicate`), so that a call whose answer was
 * lost can be repeated; another text makes another run. Throws `RUN_OPEN` (exit 4) for an open run, and `NO_WORKER` if no worker can read the transcript.
 */
export async function continueRun<Structured>(
  access: TemporalAccess,
  handle: WorkflowHandle,
  options: ContinueOptions<Structured> = {},
): Promise<StartedRun> {
  const runId = handle.workflowId;
  const old = await access.ask(() => handle.describe(), runId);
  if (old.status.name === 'RUNNING' || old.status.name === 'PAUSED') {
    throw new PerdureError(
      'RUN_OPEN',
      `run ${runId} has not ended; send it a message with 'perdure steer ${runId}', or cancel it first`,
      4,
    );
  }
  const { text = 'Continue.', ...caps } = options;
  const kept = await readRunOptions(access, handle, old);
  const result = await awaitResult(access, handle, {});
  const transcript = await readTranscript(access, handle);
  const unread = (await readUnread(access, handle)) ?? result.unconsumed;
  // a run whose preparation failed has no setup
  const given = transcript.length > 0 ? await givenSystem(access, handle) : [];
  const input: StartInput<Structured> = {
    ...kept,
    // a run that was handed over continues with the agent at work
    ...(result.agents ? { agent: result.agents.at(-1) } : {}),
    ...caps,
    task: text,
    messages: [...given, ...closeOpenCalls(transcript), ...unreadMessages(unread)],
    continuedFrom: runId,
  };
  return await startUnderNextId(access, runId, input);
}

/** The system messages of the run's input. They are part of its prompt, not of its transcript. */
async function givenSystem(access: TemporalAccess, handle: WorkflowHandle): Promise<GivenMessage[]> {
  const { prompt, given } = await access.query(handle, setupQuery);
  return given ? [{ role: 'system', parts: [{ type: 'text', text: prompt.slice(given.from, given.to) }] }] : [];
}

/**
 * Adds a result to each tool call without one. A terminated run may leave such calls, and every provider rejects a transcript with
 * them. Pure.
 */
function closeOpenCalls(messages: readonly Message[]): Message[] {
  const answered = new Set(
    messages.flatMap((message) => message.parts.flatMap((part) => (part.type === 'tool_result' ? [part.callId] : []))),
  );
  return messages.flatMap((message) => {
    const open = toolCallsOf(message).filter((call) => !answered.has(call.callId));
    return [message, ...open.map((call) => outcomeUnknown(call.callId, message))];
  });
}

function outcomeUnknown(callId: string, asked: Message): Message {
  const text =
    '[outcome unknown] The tool may have been started, but the run ended before it reported. It may or may not have taken effect. Check the state before repeating it.';
  return {
    id: `${asked.id}-${callId}`,
    role: 'tool',
    parts: [{ type: 'tool_result', callId, isError: true, parts: [{ type: 'text', text }] }],
    ...(asked.turn === undefined ? {} : { turn: asked.turn }),
  };
}

function unreadMessages(unread: readonly { readonly id: string; readonly text: string }[]): Message[] {
  return unread.map(({ id, text }) => ({ id, role: 'user', origin: 'steer', parts: [{ type: 'text', text }] }));
}

async function startUnderNextId<Structured>(access: TemporalAccess, runId: string, input: StartInput<Structured>): Promise<StartedRun> {
  const match = /^(?<base>.+)\.(?<number>[2-9]|[1-9]\d{1,3})$/u.exec(runId);
  const base = match?.groups?.base ?? runId;
  const first = Number(match?.groups?.number ?? 1) + 1;
  // the id of a run of a session or of a sub-agent has a slash, which ids that people choose have not
  const { input: checked } = checkStart(input);
  for (let number = first; number < first + CONTINUATIONS_MAX; number += 1) {
    const started = await startRun(access, { id: `${base}.${number}`, input: checked }).catch(ifTaken);
    if (started) return started;
  }
  throw new PerdureError(
    'RUN_EXISTS',
    `run ${base} has been continued ${CONTINUATIONS_MAX} times (ids up to ${CLIENT_LIMITS.idCharsMax} characters)`,
    4,
  );
}

/** A run with other input has this ID, so the next one is tried. */
function ifTaken(error: unknown): undefined {
  if (!(error instanceof PerdureError) || error.code !== 'RUN_EXISTS') throw error;
}

/** The input of a run without its task and messages. */
export type RunOptions = RunMemo['options'];

/** Reads the input options of a run from its memo, or from its first event if another client started it. Empty if neither is readable. */
async function readRunOptions(
  access: TemporalAccess,
  handle: WorkflowHandle,
  described: WorkflowExecutionDescription,
): Promise<RunOptions> {
  const memo = RunMemo.safeParse(described.memo);
  if (memo.success) return memo.data.options;
  const parsed = RunInput.safeParse(await readInput(access, handle.workflowId));
  if (!parsed.success) return {};
  const { task: _task, messages: _messages, auth: _auth, ...options } = parsed.data;
  return options;
}

async function readInput(access: TemporalAccess, workflowId: string): Promise<unknown> {
  const page = await access.ask(
    () =>
      access.connection.workflowService.getWorkflowExecutionHistory({
        namespace: access.namespace,
        execution: { workflowId },
        maximumPageSize: 1,
      }),
    workflowId,
  );
  const payload = page.history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
  if (!payload) return undefined;
  const { payloadConverter, payloadCodecs } = access.client.options.loadedDataConverter;
  let decoded = payload;
  for (const codec of payloadCodecs.toReversed()) [decoded = decoded] = await codec.decode([decoded]);
  return payloadConverter.fromPayload(decoded);
}
