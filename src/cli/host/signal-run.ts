import type { RunHandle } from '../../client/run-handle.js';
import { printJson, say } from '../display/output.js';
import { ensureBackground } from './background.js';
import type { CliContext } from './context.js';
import { noSuchRun, openPlaceIfThere, type Place, type PlaceOptions } from './workplace.js';

/** The options of the commands that send a signal to a run. */
export interface DirectOptions extends PlaceOptions {
  readonly json?: boolean;
}

/** Sends the signal. Resolves with the `--json` document, the text line, and whether a worker is needed to process the signal. */
export type Direction = (run: RunHandle) => Promise<{ readonly answer: object; readonly line: string; readonly live: boolean }>;

/** One command that sends a signal. */
export interface DirectVerb {
  readonly runId: string;
  readonly options: DirectOptions;
  readonly direction: Direction;
  /** Called when the run is open and has no worker. */
  readonly withoutWorker: (place: Place, say: (line: string) => void) => Promise<void>;
}

/** Sends the signal of `steer`, `hold`, `cancel` and similar commands, prints the result, and handles a missing worker. */
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

/** On the embedded server, starts a worker in the background, so that the run continues. */
export async function workInBackground(place: Place, tell: (line: string) => void): Promise<void> {
  if (place.location.kind === 'configured') return sayNoWorker(place, tell);
  const { pid } = await ensureBackground(place.stateDir, { taskQueue: place.taskQueue });
  tell(`no worker was running; process ${pid} continues the run in the background, stop it with: kill ${pid}`);
}

/** Temporal keeps the signal until a worker connects. */
export async function sayNoWorker(place: Place, tell: (line: string) => void): Promise<void> {
  tell(`no worker polls queue ${place.taskQueue}; the request takes effect once a worker connects`);
}
