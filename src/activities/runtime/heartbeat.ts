import { Context } from '@temporalio/activity';
import type { HeartbeatDetails } from '../../contracts/activities.js';
import { WORKER_LIMITS } from '../../contracts/constants/limits.js';

/**
 * Runs an activity's work with a heartbeat every two seconds. `details` is called for each heartbeat, to show the progress to operators. A
 * heartbeat that is five seconds late indicates a blocked event loop, and is logged with `name`.
 */
export async function withHeartbeat<T>(name: string, details: () => HeartbeatDetails, work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  let lastBeat = Date.now();
  const beat = (): void => {
    const lateMs = Date.now() - lastBeat - WORKER_LIMITS.heartbeatEveryMs;
    if (lateMs > WORKER_LIMITS.eventLoopStallMs) context.log.warn('the event loop was blocked', { tool: name, stalledMs: lateMs });
    lastBeat = Date.now();
    context.heartbeat(details());
  };
  context.heartbeat(details());
  const timer = setInterval(beat, WORKER_LIMITS.heartbeatEveryMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
