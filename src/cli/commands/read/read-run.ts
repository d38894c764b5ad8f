import type { RunHandle } from '../../../client/run-handle.js';
import { say } from '../../display/output.js';
import { askOrStartWorker } from '../../host/ask-worker.js';
import type { CliContext } from '../../host/context.js';
import { noSuchRun, openPlaceIfThere, type PlaceOptions } from '../../host/workplace.js';

/** The options of every command that reads a run. */
export interface ReadOptions extends PlaceOptions {
  readonly json?: boolean;
}

/**
 * Reads from an open or closed run what only a worker knows. On the embedded server, a worker is started in the background when none is
 * running. Throws `RUN_NOT_FOUND` (3), and `NO_WORKER` (5) on a configured server without a worker.
 */
export async function readRun<Answer>(
  runId: string,
  where: PlaceOptions,
  { output, interrupts }: Pick<CliContext, 'output' | 'interrupts'>,
  read: (run: RunHandle) => Promise<Answer>,
): Promise<Answer> {
  const tell = (line: string): void => say(output, line);
  const place = await openPlaceIfThere(where, tell);
  if (!place) throw noSuchRun(runId);
  try {
    const run = place.client.get(runId);
    // a run that does not exist is told without a worker
    await run.describe();
    return await askOrStartWorker(place, where, { tell, interrupts, ask: () => read(run) });
  } finally {
    await place.close();
  }
}
