import type { RunHandle } from '../../client/run-handle.js';
import type { CliContext } from '../host/context.js';
import { type DirectOptions, direct, workInBackground } from '../host/signal-run.js';

/** `cancel RUN`: requests the cancellation of a run. A closed run is not an error. */
export async function cancel(runId: string, options: DirectOptions & { reason?: string }, context: CliContext): Promise<number> {
  const { reason } = options;
  const verb = {
    runId,
    options,
    withoutWorker: workInBackground,
    direction: async (run: RunHandle) => {
      const { alreadyClosed } = await run.cancel(reason === undefined ? {} : { reason });
      if (alreadyClosed === undefined) return { answer: { cancelRequested: true }, line: `${runId}: cancel requested`, live: true };
      const line = `${runId}: already ${alreadyClosed === 'closed' ? 'completed' : alreadyClosed}`;
      return { answer: { cancelRequested: false, status: alreadyClosed }, line, live: false };
    },
  };
  return await direct(verb, context);
}
