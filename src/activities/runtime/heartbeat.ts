import { Context } from '@temporalio/activity';
import type { HeartbeatDetails } from '../../contracts/activities.js';
import { WORKER_LIMITS } from '../../contracts/constants/limits.js';
import { Ownership } from './ownership.js';

/** Options of `withHeartbeat`. */
export interface HeartbeatOptions {
  /**
   * Sends the first heartbeat after `WORKER_LIMITS.firstHeartbeatMs`, so that short work costs no request. Only for work that may run twice
   * and costs nothing: until then, the server has no trace of what it did. @default false, the first heartbeat is sent at the start
   */
  readonly isRepeatable?: boolean;
}

/**
 * Runs an activity's work with a heartbeat every two seconds. `details` is called for each heartbeat, to show the progress to operators. A
 * heartbeat that is five seconds late indicates a blocked event loop, and is logged with `name`.
 *
 * Work that ends while the server cannot be reached is reported once it can be, or when the attempt is lost. `ownershipOf` has the signal
 * of a lost attempt.
 */
export async function withHeartbeat<T>(
  name: string,
  details: () => HeartbeatDetails,
  work: () => Promise<T>,
  { isRepeatable = false }: HeartbeatOptions = {},
): Promise<T> {
  const context = Context.current();
  const ownership = new Ownership(context, details);
  let lastBeat = Date.now();
  const beat = (): void => {
    const lateMs = Date.now() - lastBeat - ownership.everyMs;
    if (lateMs > WORKER_LIMITS.eventLoopStallMs) context.log.warn('the event loop was blocked', { tool: name, stalledMs: lateMs });
    lastBeat = Date.now();
    ownership.beat();
  };
  const show = (): void => context.heartbeat(details());
  const first = isRepeatable ? setTimeout(show, Math.min(WORKER_LIMITS.firstHeartbeatMs, ownership.everyMs)) : undefined;
  if (!first) show();
  const timer = setInterval(beat, ownership.everyMs);
  try {
    return await work();
  } finally {
    // the SDK gives up reporting after some seconds, and a call without heartbeats would be lost
    await ownership.untilReachable();
    clearTimeout(first);
    clearInterval(timer);
    ownership.end();
  }
}
