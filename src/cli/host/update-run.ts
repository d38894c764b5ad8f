import { userInfo } from 'node:os';
import type { RunHandle } from '../../client/run-handle.js';
import { printJson, say } from '../display/output.js';
import type { CliContext } from './context.js';
import type { DirectOptions } from './signal-run.js';
import { wakeWorker } from './wake-worker.js';
import { noSuchRun, openPlaceIfThere } from './workplace.js';

/** One command that sends an update: resolves with the `--json` document and the text line. */
export interface UpdateVerb {
  readonly runId: string;
  readonly options: DirectOptions;
  readonly update: (run: RunHandle) => Promise<{ readonly answer: object; readonly line: string }>;
}

/** Sends the update of `approve`, `deny` or `extend`. The run itself answers, so the embedded server gets a worker if none is running. */
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

/** The default of `--by`: the user of this system. */
export function currentUser(): { readonly by?: string } {
  try {
    return { by: userInfo().username };
  } catch {
    // a user without an entry in the user database has no name
    return {};
  }
}
