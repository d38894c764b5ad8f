import type { Context } from '@temporalio/activity';
import type { CallToolResult } from '../../contracts/activities.js';
import { LOSS_LIMITS } from '../../contracts/constants/limits.js';
import { askServer } from '../runtime/ownership.js';

/**
 * Reports the result of a tool call a second time, if the server still counts its activity as running: the SDK gives up after about 15 s
 * without a connection, and the run would wait for a timeout. Stops when `isNeeded` is false, or when the server has ended the activity.
 * Never rejects.
 */
export async function reportAgain(context: Context, result: CallToolResult, isNeeded: () => boolean): Promise<void> {
  const { heartbeatTimeoutMs = 0, isLocal, taskToken } = context.info;
  if (isLocal) return;
  // after its heartbeat timeout the server has ended the activity, and the run asks for the result
  let leftMs = heartbeatTimeoutMs;
  for (let pauseMs: number = LOSS_LIMITS.persistAfterMs; leftMs > 0; pauseMs = Math.min(2 * pauseMs, LOSS_LIMITS.reportAgainMsMax)) {
    leftMs -= pauseMs;
    await unrefPause(pauseMs);
    if (!isNeeded()) return;
    const answer = await askServer(context, { phase: 'ended', elapsedMs: result.durationMs });
    if (answer === 'none') continue;
    // the SDK may be first with the same result
    if (answer !== 'not-owned') await context.client.activity.complete(taskToken, result).catch(ignoreError);
    return;
  }
}

/** Does not keep a process alive that has nothing else to do. */
function unrefPause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

/** A failed report: the run asks for the result later. */
function ignoreError(): void {}
