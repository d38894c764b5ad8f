import type { RunHandle } from '../../client/run-handle.js';
import type { CliContext } from '../cli-context.js';
import { noSuchRun } from '../no-such-run.js';
import { printJson, say } from '../output.js';
import { openPlaceIfThere, type PlaceOptions } from '../place.js';

/** The options of the verbs that direct a live run. */
export interface DirectOptions extends PlaceOptions {
  readonly json?: boolean;
}

/** What one such verb does: gives what `--json` prints, and the line for a person. */
export type Direction = (run: RunHandle) => Promise<{ readonly answer: object; readonly line: string }>;

/** Carries out `steer`, `cancel`, `pause` or `resume` on a run, and says so. */
export async function direct(runId: string, options: DirectOptions, context: CliContext, direction: Direction): Promise<number> {
  const { output } = context;
  const place = await openPlaceIfThere(options, (line) => say(output, line));
  if (!place) throw noSuchRun(runId);
  try {
    const { answer, line } = await direction(place.client.get(runId));
    if (options.json) printJson(output, { runId, ...answer });
    else say(output, line);
    if (!(await place.hasWorker())) say(output, "no worker is alive here: it takes effect with the next 'perdure run', 'watch' or 'dev'");
    return 0;
  } finally {
    await place.close();
  }
}
