import { ModelError } from '../../../../src/providers/contract/model-error.js';
import { say } from '../../../support/agent-worker.js';
import { latch, type TestRun, until, type useWorkers } from '../../../support/use-workers.js';

/** A signal that stops a model call, with its arguments. */
export interface StopSignal {
  readonly name: 'cancel' | 'steer';
  readonly args: readonly object[];
}

/**
 * Starts a run, and stops its first model call by a signal while the call fails: the server knows of the cancel, the call does not yet. The
 * second call answers "another answer".
 */
export async function stopAtFailure({ worker, start }: ReturnType<typeof useWorkers>, { name, args }: StopSignal): Promise<TestRun> {
  const stopped = latch();
  const on = await worker({
    model: async (_, n) => {
      if (n > 1) return say('another answer');
      await stopped.opened;
      throw new ModelError('Model.RateLimited', 'slow down', { retryAfterMs: 60_000 });
    },
    policy: {},
  });
  const run = await start(on);
  await until(() => on.requests.length === 1, 'the first attempt');
  await run.handle.signal(name, ...args);
  await until(() => hasEvent(run, 'activityTaskCancelRequestedEventAttributes'), 'the cancel of the call');
  stopped.open();
  return run;
}

/** True if the history of the run has an event of this kind. */
export async function hasEvent(
  { handle }: TestRun,
  attributes: 'activityTaskCancelRequestedEventAttributes' | 'activityTaskFailedEventAttributes',
): Promise<boolean> {
  const { events } = await handle.fetchHistory();
  return events?.some((event) => event[attributes]) === true;
}
