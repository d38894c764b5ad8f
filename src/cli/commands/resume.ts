import type { RunHandle } from '../../client/run-handle.js';
import type { CliContext } from '../host/context.js';
import { type DirectOptions, direct, workInBackground } from '../host/signal-run.js';

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
