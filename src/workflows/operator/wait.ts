import { condition } from '@temporalio/workflow';
import type { Run } from '../state/run.js';
import { type ActivityProblem, readActivityProblem } from '../temporal/failures.js';
import { awaitRoom } from '../temporal/proxies.js';

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

/** Waits until the disk of a worker has room, which refused a call because it had none. A stop of the run ends the wait. */
export async function waitForRoom(run: Run, { message }: ActivityProblem, queue?: string): Promise<void> {
  await whileWaiting(run, message, async () => {
    try {
      await run.calls.abortable(() => awaitRoom(queue));
    } catch (error) {
      // stopped, or its worker was lost: what is called next says so
      readActivityProblem(error);
    }
  });
}

/** Shows the latest decision of the run's guards, hooks and failover to operators. */
export function showDecision(run: Run, decision: string): void {
  run.lastDecision = decision;
}

/** Starts the work clock after a wait, unless the run is paused or a call waits for an answer. */
export function resumeClock({ clock, questions, waits }: Run): void {
  if (!waits.paused && !questions.holdsCalls) clock.start();
}
