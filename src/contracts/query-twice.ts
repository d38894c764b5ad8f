import { SECOND_MS } from './constants/units.js';

/** Time without an answer after which a query is sent once more. */
export const QUERY_AGAIN_MS = SECOND_MS;

/** What `queryTwice` needs of a Temporal client. */
interface Requests {
  withDeadline<Answer>(deadline: number, request: () => Promise<Answer>): Promise<Answer>;
  withAbortSignal<Answer>(signal: AbortSignal, request: () => Promise<Answer>): Promise<Answer>;
}

/**
 * Sends a query, and once more if there is no answer within `QUERY_AGAIN_MS` (1 s). Both end at the deadline. Resolves with the
 * answer that comes first, and rejects with the error of the first query.
 *
 * Reason: a worker that is about to drop a run from its cache drops all queries of the run but one, and their clients would wait until
 * the deadline. See docs/architecture/hosting.md, "A query that the worker drops".
 */
export async function queryTwice<Answer>(client: Requests, deadline: number, query: () => Promise<Answer>): Promise<Answer> {
  const settled = new AbortController();
  const first = client.withDeadline(deadline, query);
  let timer: NodeJS.Timeout | undefined;
  const due = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, QUERY_AGAIN_MS);
  });
  // the signal replaces the one of the caller, which ends the first query and so this one
  const again = () => client.withDeadline(deadline, () => client.withAbortSignal(settled.signal, query));
  const second = due.then(again).catch(() => first);
  try {
    return await Promise.race([first, second]);
  } finally {
    clearTimeout(timer);
    settled.abort();
  }
}
