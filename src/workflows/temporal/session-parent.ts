import { workflowInfo } from '@temporalio/workflow';
import { sessionId } from '../../contracts/handlers.js';
import type { RunInput } from '../../contracts/schemas/run.js';

/** True for a run that a session started: the server itself says whose child it is. */
export function isOfSession({ session }: Pick<RunInput, 'session'>): boolean {
  return session !== undefined && workflowInfo().parent?.workflowId === sessionId(session);
}

/** Why the run cannot continue the conversation of its input; undefined when it can. It would show the transcript of any run otherwise. */
export function conversationProblem(input: RunInput): string | undefined {
  const { inherits, session = '' } = input;
  if (inherits === undefined || (isOfSession(input) && inherits.runId.startsWith(`${session}/`))) return undefined;
  return 'BAD_INPUT inherits: only a session sets it, for its own runs';
}
