import { userInfo } from 'node:os';
import type { RunHandle } from '../../client/run-handle.js';
import { PerdureError } from '../../contracts/coded-error.js';
import type { CliContext } from '../cli-context.js';
import { noSuchRun } from '../no-such-run.js';
import { printJson, say } from '../output.js';
import { openPlaceIfThere, type Place } from '../place.js';
import { type DirectOptions, workInBackground } from './direct.js';

/** A verb that needs an answer of the run: gives what `--json` prints and the line for a person. */
export interface UpdateVerb {
  readonly runId: string;
  readonly options: DirectOptions;
  readonly update: (run: RunHandle) => Promise<{ readonly answer: object; readonly line: string }>;
}

/** A worker that starts in the background loads the config and the workflow code before it answers. */
const WORKER_TRIES_MAX = 12;

/** Carries out `approve`, `deny` or `extend`: the run itself answers, so in this folder a worker is started when none is alive. */
export async function sendUpdate({ runId, options, update }: UpdateVerb, { output }: CliContext): Promise<number> {
  const tell = (line: string): void => say(output, line);
  const place = await openPlaceIfThere(options, tell);
  if (!place) throw noSuchRun(runId);
  try {
    const run = place.client.get(runId);
    await wakeWorker(place, run, tell);
    const { answer, line } = await update(run);
    if (options.json) printJson(output, { runId, ...answer });
    else tell(line);
    return 0;
  } finally {
    await place.close();
  }
}

/** Who decides, when the command line does not say: the user of this system. */
export function currentUser(): { readonly by?: string } {
  try {
    return { by: userInfo().username };
  } catch {
    // a user without an entry in the system's list has no name
    return {};
  }
}

async function wakeWorker(place: Place, run: RunHandle, tell: (line: string) => void): Promise<void> {
  if (place.location.kind === 'configured' || (await place.hasWorker())) return;
  // a closed run or one that is not there needs no worker to be refused
  if (!(await run.describe()).open) return;
  await workInBackground(place, tell);
  for (let tries = 1; !(await answers(run, tries)); tries += 1);
}

async function answers(run: RunHandle, tries: number): Promise<boolean> {
  try {
    await run.progress();
    return true;
  } catch (error) {
    if (!(error instanceof PerdureError) || error.code !== 'NO_WORKER' || tries >= WORKER_TRIES_MAX) throw error;
    return false;
  }
}
