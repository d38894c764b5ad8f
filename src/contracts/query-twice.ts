import { SECOND_MS } from './constants/units.js';

/** Time without an answer after which a query is sent once more. */
export const QUERY_AGAIN_MS = SECOND_MS;
/** gRPC may end a request slightly before its deadline. */
const DEADLINE_SLACK_MS = 100;

/** What `queryTwice` needs of a Temporal client. */
interface Requests {
  withDeadline<Answer>(deadline: number, request: () => Promise<Answer>): Promise<Answer>;
}

/**
 * Sends a query, and once more if there is no answer within `QUERY_AGAIN_MS` (1 s). Rejects with the error of the last one.
 *
 * Reason: a worker that removes a run from its cache drops all queries of the run but one, and their clients would wait until the deadline.
 * See docs/architecture/hosting.md, "A query that the worker drops".
 */
export async function queryTwice<Answer>(client: Requests, deadline: number, query: () => Promise<Answer>): Promise<Answer> {
  const patience = Math.min(deadline, Date.now() + QUERY_AGAIN_MS);
  try {
    return await client.withDeadline(patience, query);
  } catch (error) {
    if (Date.now() < patience - DEADLINE_SLACK_MS) throw error;
  }
  // one after the other: the SDK retries a request that is left behind, and throws uncaught if its connection is closed meanwhile
  return await client.withDeadline(deadline, query);
}
