import { condition } from '@temporalio/workflow';
import type { Run } from '../state/run.js';

/** Waits `ms`. A cancel, the deadline, an interrupt, a `/model` or `/think` message and a flood of messages end it early. */
export async function wait(run: Run, ms: number, reason: string): Promise<void> {
  const isOver = (): boolean => run.mustStop || run.inbox.interrupting || run.inbox.directed.length > 0 || run.floods;
  await whileWaiting(run, reason, () => condition(isOver, ms));
}

/** Shows `reason` to operators for as long as `work` takes. Several calls of one batch may wait at once. */
export async function whileWaiting<T>(run: Run, reason: string, work: () => Promise<T>): Promise<T> {
  const close = run.waits.open(reason);
  run.events.add({ type: 'waiting', for: reason });
  try {
    return await work();
  } finally {
    close();
  }
}

/** Shows the latest decision of the run's guards, hooks and failover to operators. */
export function showDecision(run: Run, decision: string): void {
  run.lastDecision = decision;
}
