import type { RunHandle } from '../../client/run-handle.js';
import type { CliContext } from '../host/context.js';
import { type DirectOptions, direct, workInBackground } from '../host/signal-run.js';

/** `release RUN`: ends a hold. */
export async function release(runId: string, options: DirectOptions, context: CliContext): Promise<number> {
  const verb = {
    runId,
    options,
    withoutWorker: workInBackground,
    direction: async (run: RunHandle) => {
      await run.release();
      return { answer: { held: false }, line: `${runId}: is let go`, live: true };
    },
  };
  return await direct(verb, context);
}
