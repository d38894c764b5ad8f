import { workflowInfo } from '@temporalio/workflow';
import { sessionId } from '../../contracts/handlers.js';
import type { SessionInput } from '../../contracts/schemas/session.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { isSessionKey } from '../../contracts/text/ids.js';
import { unreadableReason } from '../../contracts/verbs/unreadable.js';
import type { CarriedSession } from './session.js';

/** The arguments of a session. With a `problem` it ends, and `input` is an empty one. */
export interface SessionStart {
  readonly input: SessionInput;
  readonly state?: CarriedSession;
  readonly problem?: string;
}

/**
 * Reads the arguments of a session, which may come from any client. Whatever they are, the session ends with a failure of its own: an error
 * that is thrown here would fail its first workflow task for ever. The arguments of a session that continued as new were written by a worker.
 * What activity `prepareSession` checks is left to it.
 */
export function readSessionStart(input: SessionInput, state: CarriedSession | undefined): SessionStart {
  const { continuedFromExecutionRunId, unsafe } = workflowInfo();
  const unreadable = unreadableReason(input) ?? unreadableReason(state);
  const isContinued = continuedFromExecutionRunId !== undefined;
  if (unreadable !== undefined && (isContinued || (unsafe.isReplaying && unreadable.includes('BLOB_MISSING')))) throw new Error(unreadable);
  if (isContinued) {
    if (state?.v !== 1)
      throw new Error('the carried state of this session is of another version; start a worker of the build that wrote it');
    return { input, state };
  }
  const message =
    state === undefined ? problemOf(input) : 'a session takes one argument; the second one is for sessions that continued as new';
  return message === undefined ? { input } : { input: { key: '' }, problem: `BAD_INPUT input: ${message}` };
}

function problemOf(input: unknown): string | undefined {
  const unreadable = unreadableReason(input);
  if (unreadable !== undefined) return `cannot be decoded: ${unreadable}; send it as JSON`;
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return `an object is needed, got ${echoValue(input)}`;
  const key: unknown = 'key' in input ? input.key : undefined;
  if (typeof key !== 'string' || !isSessionKey(key)) return `key: ids of A–Z a–z 0–9 . _ : -, separated by slashes, got ${echoValue(key)}`;
  const { workflowId } = workflowInfo();
  if (workflowId !== sessionId(key)) return `key: the workflow id of this session is ${sessionId(key)}, got ${echoValue(workflowId)}`;
  const { queue } = input as Partial<SessionInput>;
  // handlers read these before the input is checked
  if (queue !== undefined && (typeof queue !== 'object' || queue === null)) return `queue: an object, got ${echoValue(queue)}`;
  return undefined;
}
