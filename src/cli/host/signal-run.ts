import type { RunHandle } from '../../client/run-handle.js';
import { printJson, say } from '../display/output.js';
import { ensureBackground } from './background.js';
import type { CliContext } from './context.js';
import { noSuchRun, openPlaceIfThere, type Place, type PlaceOptions } from './workplace.js';

/** The options of the verbs that direct a live run. */
export interface DirectOptions extends PlaceOptions {
  readonly json?: boolean;
}

/** What one such verb does: gives what `--json` prints, the line for a person, and whether the run needs a worker to heed it. */
export type Direction = (run: RunHandle) => Promise<{ readonly answer: object; readonly line: string; readonly live: boolean }>;

/** How a verb is carried out. */
export interface DirectVerb {
  readonly runId: string;
  readonly options: DirectOptions;
  readonly direction: Direction;
  /** What happens when nobody works on the run. */
  readonly withoutWorker: (place: Place, say: (line: string) => void) => Promise<void>;
}

/** Carries out `steer`, `hold`, `cancel` and their like on a run, says so, and sees to it that the run heeds it. */
export async function direct({ runId, options, direction, withoutWorker }: DirectVerb, { output }: CliContext): Promise<number> {
  const tell = (line: string): void => say(output, line);
  const place = await openPlaceIfThere(options, tell);
  if (!place) throw noSuchRun(runId);
  try {
    const { answer, line, live } = await direction(place.client.get(runId));
    if (options.json) printJson(output, { runId, ...answer });
    else tell(line);
    if (live && !(await place.hasWorker())) await withoutWorker(place, tell);
    return 0;
  } finally {
    await place.close();
  }
}

/** On the folder's own server, starts a worker in the background: who steers or resumes a run wants it to go on. */
export async function workInBackground(place: Place, tell: (line: string) => void): Promise<void> {
  if (place.location.kind === 'configured') return sayNoWorker(place, tell);
  const { pid } = await ensureBackground(place.stateDir, { taskQueue: place.taskQueue });
  tell(`no worker was alive here: process ${pid} goes on with the run in the background; stop it with: kill ${pid}`);
}

/** What was asked is kept by Temporal until a worker comes. */
export async function sayNoWorker(place: Place, tell: (line: string) => void): Promise<void> {
  tell(`no worker polls queue ${place.taskQueue}: it takes effect when one comes`);
}
