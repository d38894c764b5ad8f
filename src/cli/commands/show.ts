import type { RunDescription } from '../../client/run-description.js';
import type { RunHandle } from '../../client/run-handle.js';
import { PerdureError } from '../../contracts/coded-error.js';
import { RUN_LIMITS } from '../../contracts/limits.js';
import type { Progress, RunResult } from '../../contracts/run.js';
import type { CliContext } from '../cli-context.js';
import { noSuchRun } from '../no-such-run.js';
import { type Output, printJson, printText, say } from '../output.js';
import { openPlaceIfThere, type Place, type PlaceOptions } from '../place.js';
import { formatShown } from '../shown-run.js';

/** The options of `show`. */
export interface ShowRunOptions extends PlaceOptions {
  readonly json?: boolean;
}

/** `show RUN`: where a run stands, or how it ended. Without a worker it shows what Temporal knows, and says so. */
export async function show(runId: string, options: ShowRunOptions, { output }: CliContext): Promise<number> {
  const place = await openPlaceIfThere(options, (line) => say(output, line));
  if (!place) throw noSuchRun(runId);
  try {
    const run = place.client.get(runId);
    const described = await run.describe();
    const result = described.open ? undefined : await run.result();
    const progress = result ? await progressOfClosed(run, { place, result, described }) : await askProgress(run, place, output);
    const uiUrl = place.runUrl(runId);
    if (options.json)
      printJson(output, { progress: progress ?? null, run: described, ...(result ? { result } : {}), uiUrl: uiUrl ?? null });
    else printText(output, formatShown({ described, progress, result, uiUrl }));
    return 0;
  } finally {
    await place.close();
  }
}

/** Asks the run's worker; undefined, and said on stderr, when there is none. */
async function askProgress(run: RunHandle, place: Place, output: Output): Promise<Progress | undefined> {
  const { location, taskQueue } = place;
  try {
    // the folder's own worker is known for certain: then there is no need to wait for one that is not there
    if (location.kind === 'embedded' && !(await place.hasWorker())) {
      throw new PerdureError(
        'NO_WORKER',
        `no worker polls queue ${taskQueue}; 'perdure watch ${run.runId}' or 'perdure dev' starts one`,
        5,
      );
    }
    return await run.progress();
  } catch (error) {
    if (!(error instanceof PerdureError) || error.code !== 'NO_WORKER') throw error;
    say(output, `${error.code}: ${error.message}`);
    return undefined;
  }
}

/** A closed run's progress: from a worker when one lives, else what its result says of it. */
async function progressOfClosed(run: RunHandle, closed: { place: Place; result: RunResult; described: RunDescription }): Promise<Progress> {
  const { place, result, described } = closed;
  if (await place.hasWorker()) {
    const told = await run.progress().catch(ifNoWorker);
    if (told) return told;
  }
  return {
    status: result.reason,
    phase: 'closed',
    turn: result.turns,
    maxTurns: described.maxTurns ?? Math.max(result.turns, RUN_LIMITS.maxTurnsDefault),
    usage: result.usage,
    ...(result.costUsd === undefined ? {} : { costUsd: result.costUsd }),
    pendingApprovals: 0,
    inbox: result.unconsumed.length,
    agent: described.agent ?? 'default',
    model: result.models.at(-1) ?? described.model ?? 'unknown',
  };
}

function ifNoWorker(error: unknown): undefined {
  if (!(error instanceof PerdureError) || error.code !== 'NO_WORKER') throw error;
}
