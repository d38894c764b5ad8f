import type { AgentActivities } from '../../contracts/activities.js';
import type { Authenticate } from '../prepare/authenticate.js';

/**
 * Makes the activity `checkMessages`: a message to a session whose runs have rights of this worker's user counts only with a signature of that
 * user, made shortly before the session accepted it, and for this session alone.
 */
export function createCheckMessages(authenticate: Authenticate | undefined): AgentActivities['checkMessages'] {
  return async ({ sessionId, executionId, messages }) => {
    const found = await Promise.all(
      messages.map(async ({ id, content, acceptedAt, auth }) => {
        const use = `send ${sessionId} ${executionId} ${id}`;
        const problem = await authenticate?.({ verb: 'send', runId: sessionId, input: { id, content }, auth, use }, acceptedAt);
        return problem === undefined ? [] : [{ id, problem }];
      }),
    );
    return { problems: found.flat() };
  };
}
