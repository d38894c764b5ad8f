import { workflowInfo } from '@temporalio/workflow';
import { SESSION_LIMITS } from '../../contracts/constants/limits.js';
import type { Message } from '../../contracts/schemas/message.js';
import type { Run } from '../state/run.js';
import { readActivityProblem } from '../temporal/failures.js';
import { copyConversation } from '../temporal/session-proxies.js';

/**
 * True for a run that copies the conversation which it inherits: a worker without a cache would query many runs for it, or the server may soon
 * remove one of them.
 */
export function mustCopyConversation({ inherits }: Pick<Run['transcript'], 'inherits'>, now: number): boolean {
  if (!inherits) return false;
  const { referencedRunsMax, referencedAgeMsMax } = SESSION_LIMITS;
  return inherits.runs >= referencedRunsMax || now - inherits.since > referencedAgeMsMax;
}

/** Keeps the inherited conversation in the run's own transcript. One that the server no longer has is replaced by a note. */
export async function keepConversation(run: Run): Promise<void> {
  const { inherits } = run.transcript;
  if (!inherits) return;
  try {
    const { length, digest } = inherits;
    const ref = { runId: run.runId, executionId: workflowInfo().runId, base: { length, digest }, tail: [], digest, inherits };
    const { messages } = await run.calls.abortable(() => copyConversation(ref));
    const returned = new Map(messages.map(({ message, hash }) => [message, hash]));
    run.transcript.replaceInherited([...returned.keys()], returned);
  } catch (error) {
    const problem = readActivityProblem(error);
    // the stop of the run ended the copy: there is nothing more to ask the model
    if (run.mustStop) return;
    run.transcript.replaceInherited([lostConversation(run, inherits.length)], new Map());
    run.events.add({
      type: 'notice',
      text: `the conversation of the session could not be read: ${problem.type}: ${problem.message}`.slice(0, 500),
    });
  }
}

/** The message in place of a conversation that no worker can read any more. */
export function lostConversation({ idPrefix }: Pick<Run, 'idPrefix'>, count: number): Message {
  const text = `[the ${count} messages of the conversation before this point are not available any more]`;
  return { id: `${idPrefix}-lost`, role: 'user', origin: 'summary', parts: [{ type: 'text', text }] };
}
