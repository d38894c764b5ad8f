import type { RunHandle } from '../../client/run-handle.js';
import type { RunDescription } from '../../client/runs/describe-run.js';
import { RUN_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { Progress, RunResult } from '../../contracts/schemas/run.js';
import { type Output, printJson, printText, say } from '../display/output.js';
import { formatShown, type ShownRun } from '../display/run-details.js';
import type { CliContext } from '../host/context.js';
import { noSuchRun, openPlaceIfThere, type Place, type PlaceOptions } from '../host/workplace.js';

/** The options of `show`. */
export interface ShowRunOptions extends PlaceOptions {
  readonly json?: boolean;
}

/** `show RUN`: where a run stands and what it waits for, or how it ended. Without a worker it shows what Temporal knows, and says so. */
export async function show(runId: string, options: ShowRunOptions, { output }: CliContext): Promise<number> {
  const place = await openPlaceIfThere(options, (line) => say(output, line));
  if (!place) throw noSuchRun(runId);
  try {
    const run = place.client.get(runId);
    const described = await run.describe();
    const result = described.open ? undefined : await run.result();
    const told = result ? await askOfClosed(run, place) : await askOfOpen(run, place, output);
    const progress = told ?? (result && progressFromResult(result, described));
    const uiUrl = place.runUrl(runId);
    if (options.json)
      printJson(output, { progress: progress ?? null, run: described, ...(result ? { result } : {}), uiUrl: uiUrl ?? null });
    else printText(output, formatShown({ described, progress, result, uiUrl, ...(await lookInside(run, told)) }));
    return 0;
  } finally {
    await place.close();
  }
}

/** Asks the run's worker; undefined, and said on stderr, when there is none. */
async function askOfOpen(run: RunHandle, place: Place, output: Output): Promise<Progress | undefined> {
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

/** Of a closed run a worker is asked only when one lives: the result says most of it. */
async function askOfClosed(run: RunHandle, place: Place): Promise<Progress | undefined> {
  return (await place.hasWorker()) ? await run.progress().catch(ifNoWorker) : undefined;
}

function progressFromResult(result: RunResult, described: RunDescription): Progress {
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
    model: result.switches?.at(-1)?.to ?? result.models.at(-1) ?? described.model ?? 'unknown',
  };
}

/** What a person reads beside the progress. Nothing of a run whose worker told none. */
async function lookInside(run: RunHandle, told: Progress | undefined): Promise<Pick<ShownRun, 'waiting' | 'steps'>> {
  if (!told) return { waiting: [], steps: [] };
  const approvals = told.pendingApprovals > 0 ? await run.approvals().catch(ifNoWorker) : undefined;
  const steps = await run.steps().catch(ifNoWorker);
  return { waiting: approvals?.pending ?? [], steps: steps ?? [] };
}

function ifNoWorker(error: unknown): undefined {
  if (!(error instanceof PerdureError) || error.code !== 'NO_WORKER') throw error;
}
