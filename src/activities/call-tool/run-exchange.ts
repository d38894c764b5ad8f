import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '@temporalio/activity';
import { CLIENT_LIMITS } from '../../contracts/constants/limits.js';
import { queryTwice } from '../../contracts/query-twice.js';
import type { Asker } from '../mcp/asking-context.js';
import type { CallSignal } from '../runtime/call-signal.js';

/** A request of a running call to its run. */
export interface Exchange {
  /** Signal with the request, and with `withdrawal` if the server gives up. */
  readonly signal: string;
  readonly request: object;
  readonly withdrawal: object;
  /** Query for the end, with its argument. */
  readonly query: string;
  readonly question: object;
  /** Shortest and longest time between two looks. */
  readonly pace: { readonly pollMsMin: number; readonly pollMsMax: number };
}

/** The state of a request, as the query returns it. */
interface State<End> {
  readonly isPending: boolean;
  readonly ended?: End;
}

/**
 * Sends a request to the run of a call and waits for its end. The time limit of the call stands still meanwhile. Undefined for a request that
 * the run did not take. Rejects when the call or the server gives up.
 */
export type RunExchange = <End>(exchange: Exchange, asker: Asker) => Promise<End | undefined>;

/** Looks that find no such request before it counts as not taken. */
const UNKNOWN_MAX = 5;

/** The request is a signal to the run, which keeps it through the death of this worker, and its end is found by a query. */
export function createExchange(context: Pick<Context, 'client' | 'info'>, limit: CallSignal): RunExchange {
  // an activity of a run belongs to a workflow
  const { workflowId, runId } = context.info.workflowExecution ?? { workflowId: '', runId: '' };
  const { client } = context;
  const run = client.workflow.getHandle(workflowId, runId);
  return async <End>({ signal: name, request, withdrawal, query, question, pace }: Exchange, asker: Asker): Promise<End | undefined> => {
    // each look ends before the query can leave the sticky queue of a lost worker
    const look = (): Promise<State<End>> =>
      queryTwice(client, Date.now() + CLIENT_LIMITS.queryTimeoutMs, () => run.query<State<End>, [object]>(query, question));
    const resume = limit.hold();
    try {
      await run.signal<[object]>(name, request);
      return await untilEnded(look, { ...pace, signal: AbortSignal.any([limit.signal, asker.signal]) });
    } catch (error) {
      // the server no longer waits for it; after the end of the call, the run ends its requests itself
      const isWithdrawn = asker.signal.aborted && !asker.isLost() && !limit.signal.aborted;
      if (isWithdrawn) await run.signal<[object]>(name, withdrawal);
      throw error;
    } finally {
      resume();
    }
  };
}

type Patience = Exchange['pace'] & { readonly signal: AbortSignal };

/** Asks for the end until it has come. A query that fails is repeated: its worker, or the server, may be restarting. */
async function untilEnded<End>(look: () => Promise<State<End>>, { pollMsMin, pollMsMax, signal }: Patience): Promise<End | undefined> {
  let unknownTimes = 0;
  for (let waitMs = pollMsMin; ; waitMs = Math.min(waitMs * 2, pollMsMax)) {
    signal.throwIfAborted();
    const state = await look().catch(() => undefined);
    if (state?.ended) return state.ended;
    // the run does not have it: it ends, or another message of this name came first
    if (state?.isPending === false) unknownTimes += 1;
    if (unknownTimes > UNKNOWN_MAX) return undefined;
    await delay(waitMs, undefined, { signal });
  }
}
