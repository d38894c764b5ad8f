import type { RunHandle } from '../../client/run-handle.js';
import type { CliContext } from '../host/context.js';
import { type DirectOptions, direct, sayNoWorker, workInBackground } from '../host/signal-run.js';

/** `pause RUN`: lets running calls finish and starts no further one. */
export async function pause(runId: string, options: DirectOptions, context: CliContext): Promise<number> {
  const verb = {
    runId,
    options,
    withoutWorker: sayNoWorker,
    direction: async (run: RunHandle) => {
      await run.pause();
      const line = `${runId}: pauses when its running calls have finished; go on with: perdure resume ${runId}`;
      return { answer: { paused: true }, line, live: true };
    },
  };
  return await direct(verb, context);
}

/** `resume RUN`: goes on after `pause`. */
export async function resume(runId: string, options: DirectOptions, context: CliContext): Promise<number> {
  const verb = {
    runId,
    options,
    withoutWorker: workInBackground,
    direction: async (run: RunHandle) => {
      await run.resume();
      return { answer: { paused: false }, line: `${runId}: goes on`, live: true };
    },
  };
  return await direct(verb, context);
}
