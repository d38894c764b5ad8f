import { checkSteer } from '../../client/check-steer.js';
import type { RunHandle } from '../../client/run-handle.js';
import type { CliContext } from '../cli-context.js';
import { type DirectOptions, direct, workInBackground } from './direct.js';

/** `steer RUN "TEXT"`: puts a message into a live run. */
export async function steer(runId: string, text: string, options: DirectOptions & { id?: string }, context: CliContext): Promise<number> {
  const message = checkSteer({ text, ...(options.id === undefined ? {} : { id: options.id }) });
  const verb = {
    runId,
    options,
    withoutWorker: workInBackground,
    direction: async (run: RunHandle) => {
      const { id } = await run.steer(message);
      return { answer: { id }, line: `message ${id} is in the queue of ${runId}`, live: true };
    },
  };
  return await direct(verb, context);
}
