import { condition } from '@temporalio/workflow';
import { publishAttributes, publishStatus } from './progress.js';
import type { Run } from './run.js';

/** What a loop finds when it asks whether it may go on. */
export type GoOn = 'go' | 'stop' | 'continue-as-new';

/** Asked before each call: waits while paused, then says whether the call may start. The clock stands still meanwhile. */
export async function mayGoOn(run: Run): Promise<GoOn> {
  if (run.mustStop) return 'stop';
  if (!run.inbox.paused) return 'go';
  showPause(run);
  await condition(() => !run.inbox.paused || run.mustStop || run.historyIsLong());
  if (run.inbox.paused && !run.mustStop) return 'continue-as-new';
  endPause(run);
  return run.mustStop ? 'stop' : 'go';
}

function showPause(run: Run): void {
  if (run.waits.paused) return;
  run.waits.paused = true;
  run.clock.stop();
  run.events.add({ type: 'paused' });
  publishTransition(run);
}

function endPause(run: Run): void {
  if (!run.waits.paused) return;
  run.waits.paused = false;
  run.events.add({ type: 'resumed' });
  run.clock.start();
  publishTransition(run);
}

function publishTransition(run: Run): void {
  publishAttributes(run, { AgentStatus: run.status });
  publishStatus(run);
}
