import { setTimeout as delay } from 'node:timers/promises';
import type { RunHandle } from '../../../client/run-handle.js';
import { progressOfClosed } from '../../../client/runs/closed-progress.js';
import { PerdureError } from '../../../contracts/perdure-error.js';
import type { Progress } from '../../../contracts/schemas/run.js';
import { fullStateDisk } from '../../../worker/state-folder/state-folder.js';
import { printJson, printText, say } from '../../display/output.js';
import { formatShown, type ShownRun } from '../../display/run-details.js';
import { Outage } from '../../follow/outage.js';
import type { CliContext } from '../../host/context.js';
import { readSubagentTree } from '../../host/subagent-tree.js';
import { noSuchRun, openPlaceIfThere, type Place, type PlaceOptions } from '../../host/workplace.js';

/** The options of `show`. */
export interface ShowRunOptions extends PlaceOptions {
  readonly json?: boolean;
  readonly watch?: boolean;
}

/**
 * `show RUN`: shows the status of a run, or its result. Without a worker, shows only the data of the Temporal server, with a notice. With
 * `--watch`, shows it again when it changes, until the run is closed; in a terminal in the same place.
 */
export async function show(runId: string, options: ShowRunOptions, { output, interrupts }: CliContext): Promise<number> {
  if (options.watch && options.json)
    throw new PerdureError('BAD_OPTION', '--watch and --json exclude each other; watch RUN --events prints JSON Lines', 2);
  const place = await openPlaceIfThere(options, (line) => say(output, line));
  if (!place) throw noSuchRun(runId);
  try {
    const tell = onceEach((line) => say(output, line));
    const outage = new Outage({ say: (line) => say(output, line) }, interrupts.signal);
    let { details, isOpen } = await readShown(runId, place, tell);
    if (options.json) printJson(output, documentOf(details));
    else printText(output, formatShown(details));
    for (let last = formatShown(details); options.watch && isOpen && !interrupts.signal.aborted; ) {
      await delay(WATCH_MS, undefined, { signal: interrupts.signal }).catch(() => undefined);
      const next = await outage.through(() => readShown(runId, place, tell));
      if (!next || interrupts.signal.aborted) break;
      ({ details, isOpen } = next);
      const text = formatShown(details);
      if (text !== last) printText(output, text, { inPlace: true });
      last = text;
    }
    return 0;
  } finally {
    await place.close();
  }
}

const WATCH_MS = 1_000;

/** Tells each line once, however often it is given: what lasts is no news at each look. */
function onceEach(tell: (line: string) => void): (line: string) => void {
  const told = new Set<string>();
  return (line) => {
    if (!told.has(line)) tell(line);
    told.add(line);
  };
}

/** What is shown of a run now. */
async function readShown(runId: string, place: Place, tell: (line: string) => void): Promise<{ details: ShownRun; isOpen: boolean }> {
  const run = place.client.get(runId);
  const described = await run.describe();
  const result = described.open ? undefined : await run.result();
  const reported = result ? await reportOfClosed(run, place) : await reportOfOpen(run, place, tell);
  const progress = reported ?? (result && progressOfClosed(result, described));
  const subagents = await readSubagentTree(place.client, { progress, result });
  const details = { described, progress, result, uiUrl: place.runUrl(runId), subagents, ...(await readDetails(run, reported, place)) };
  return { details, isOpen: described.open };
}

/** The document of `--json`. */
function documentOf({ progress, described, result, subagents, uiUrl }: ShownRun): object {
  const tree = subagents.length === 0 ? {} : { subagents };
  return { progress: progress ?? null, run: described, ...(result ? { result } : {}), ...tree, uiUrl: uiUrl ?? null };
}

/** The progress of an open run, from its worker. Without a worker: undefined, with a notice. */
async function reportOfOpen(run: RunHandle, place: Place, tell: (line: string) => void): Promise<Progress | undefined> {
  const { location, taskQueue } = place;
  try {
    // the lock of the folder proves that it has no worker, so the query would only time out
    if (location.kind === 'embedded' && !(await place.hasWorker())) {
      throw new PerdureError(
        'NO_WORKER',
        `no worker polls queue ${taskQueue}; start one with 'perdure watch ${run.runId}' or 'perdure dev'`,
        5,
      );
    }
    const progress = await run.progress();
    // without room, the embedded server cannot store that the run waits
    const waitingFor = progress.waitingFor ?? (location.kind === 'embedded' ? await fullStateDisk(place.stateDir) : undefined);
    return waitingFor === undefined ? progress : { ...progress, waitingFor };
  } catch (error) {
    if (!(error instanceof PerdureError) || error.code !== 'NO_WORKER') throw error;
    tell(`${error.code}: ${error.message}`);
    return undefined;
  }
}

/** The progress of a closed run, if a worker is running. Otherwise the result is enough. */
async function reportOfClosed(run: RunHandle, place: Place): Promise<Progress | undefined> {
  return (await place.hasWorker()) ? await run.progress().catch(ifNoWorker) : undefined;
}

/** Pending approvals and questions, unread messages and recent turns of a run. Empty when no worker reported its progress. */
async function readDetails(
  run: RunHandle,
  reported: Progress | undefined,
  { client }: Place,
): Promise<Pick<ShownRun, 'waiting' | 'questions' | 'steps' | 'unread'>> {
  if (!reported) return { waiting: [], questions: [], steps: [], unread: [] };
  const isWaiting = reported.pendingApprovals > 0 || (reported.pendingQuestions ?? 0) > 0;
  const approvals = isWaiting ? await run.approvals().catch(ifNoWorker) : undefined;
  const own = (approvals?.questions ?? []).map((question) => ({ ...question, runId: run.runId }));
  const ofSubagents = await Promise.all(
    (reported.subagents ?? []).map(async ({ runId, reason }) => (reason === undefined ? await questionsOf(client.get(runId)) : [])),
  );
  const steps = await run.steps().catch(ifNoWorker);
  const unread = reported.inbox > 0 ? await run.unread().catch(ifNoWorker) : undefined;
  return { waiting: approvals?.pending ?? [], questions: [...own, ...ofSubagents.flat()], steps: steps ?? [], unread: unread ?? [] };
}

/** The questions of a sub-agent. It may have ended meanwhile. */
async function questionsOf(run: RunHandle): Promise<ShownRun['questions']> {
  const { questions = [] } = (await run.approvals().catch(ifNoWorker)) ?? {};
  return questions.map((question) => ({ ...question, runId: run.runId }));
}

function ifNoWorker(error: unknown): undefined {
  if (!(error instanceof PerdureError) || error.code !== 'NO_WORKER') throw error;
}
