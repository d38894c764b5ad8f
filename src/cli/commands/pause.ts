import type { RunHandle } from '../../client/run-handle.js';
import type { CliContext } from '../host/context.js';
import { type DirectOptions, direct, sayNoWorker, workInBackground } from '../host/signal-run.js';

/** `pause RUN`: pauses a run after its running calls finish. */
export async function pause(runId: string, options: DirectOptions, context: CliContext): Promise<number> {
  const verb = {
    runId,
    options,
    withoutWorker: sayNoWorker,
    direction: async (run: RunHandle) => {
      await run.pause();
      const line = `${runId}: pauses after its running calls finish; resume it with: perdure resume ${runId}`;
      return { answer: { paused: true }, line, live: true };
    },
  };
  return await direct(verb, context);
}

/** `resume RUN`: continues a paused run. */
export async function resume(runId: string, options: DirectOptions, context: CliContext): Promise<number> {
  const verb = {
    runId,
    options,
    withoutWorker: workInBackground,
    direction: async (run: RunHandle) => {
      await run.resume();
      return { answer: { paused: false }, line: `${runId}: resumed`, live: true };
    },
  };
  return await direct(verb, context);
}
