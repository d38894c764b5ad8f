import { RUN_LIMITS } from '../../contracts/constants/limits.js';
import { wait } from '../operator/wait.js';
import type { ModelPair } from '../policies/model/next-model.js';
import type { Run } from '../state/run.js';
import { type ActivityProblem, lossShown } from '../temporal/failures.js';
import { compactTranscript, shortenLargest } from './compact-transcript.js';
import { correct } from './corrections.js';
import { allFailed, failOver } from './fail-over.js';
import type { Setbacks } from './setbacks.js';

/** A failed call with its model and key. */
interface FailedCall {
  readonly pair: ModelPair;
  readonly problem: ActivityProblem;
  readonly setbacks: Setbacks;
  /** The deadline of the final call, in milliseconds since 1970. Only recoveries without a wait apply to it. */
  readonly endsAt: number | undefined;
}

/** The outcome: call a model again, or fail with this type and message. */
export type AfterFailure = { readonly again: true } | { readonly again: false; readonly type: string; readonly message: string };

/** Recovers from a failed call where possible: retry, failover, wait or correction. Each recovery has its own limit. */
export async function handleFailedCall(run: Run, { pair, problem, setbacks, endsAt }: FailedCall): Promise<AfterFailure> {
  const { turn } = run.counters;
  const { type, message } = problem;
  const final = endsAt !== undefined;
  if (problem.workerLost) {
    setbacks.workers += 1;
    run.events.add({ type: 'worker.lost', turn, activity: 'callModel', losses: setbacks.workers, ...lossShown(problem) });
    return again(setbacks.workers <= RUN_LIMITS.workerLossesMax, problem);
  }
  run.events.add({
    type: 'model.failed',
    turn,
    model: pair.candidate.model,
    failure: type,
    message: message.slice(0, 500),
    ...requestId(problem),
  });
  if (type === 'Transcript.Moved' || type === 'Transcript.Unavailable') return again(resetReference(run, setbacks), problem);
  switch (await failOver(run, { pair, problem, setbacks, endsAt })) {
    case 'again':
      return { again: true };
    case 'failed':
      return again(false, allFailed(setbacks) ?? problem);
    case 'not-mine':
      if (type === 'Model.Unreachable') return again(!final && (await waitForModel(run, setbacks)), allFailed(setbacks) ?? problem);
      return again(run.isGuarded && !final && (await recover(run, problem, setbacks)), problem);
  }
}

function again(may: boolean, { type, message }: Pick<ActivityProblem, 'type' | 'message'>): AfterFailure {
  return may ? { again: true } : { again: false, type, message };
}

function requestId({ lastHeartbeat: details }: ActivityProblem): { requestId?: string } {
  const id = details !== null && typeof details === 'object' && 'requestId' in details ? details.requestId : undefined;
  return typeof id === 'string' ? { requestId: id } : {};
}

/**
 * Makes the next reference start at the beginning, after one that no worker could resolve. False when the limit of such resets is reached.
 */
export function resetReference(run: Run, setbacks: Pick<Setbacks, 'references'>): boolean {
  setbacks.references += 1;
  run.transcript.startFresh();
  return setbacks.references <= RUN_LIMITS.transcriptMovedMax;
}

/** The recoveries that change the request. They are counted in a row, and any answer resets the counters. */
async function recover(run: Run, { type, message, lastHeartbeat }: ActivityProblem, setbacks: Setbacks): Promise<boolean> {
  const { counters } = run;
  switch (type) {
    case 'Model.ContextOverflow':
      if (!setbacks.lowersOutput && hintsAtOutput(lastHeartbeat)) {
        setbacks.lowersOutput = true;
        return true;
      }
      setbacks.overflows += 1;
      return await shrinkTranscript(run, setbacks.overflows);
    case 'Model.BadJson':
      counters.badJson += 1;
      if (counters.badJson > RUN_LIMITS.badJsonMax) return false;
      correct(run, { why: 'JSON rejected by the provider', text: `${BAD_JSON}${message.slice(0, 500)}`, attempt: counters.badJson });
      return true;
    case 'Model.ThinkingBudget':
      counters.thinking += 1;
      if (counters.thinking > RUN_LIMITS.thinkingMax) return false;
      correct(run, { why: 'thinking budget', text: THINK_LESS, attempt: counters.thinking });
      return true;
    case 'Model.EmptyStream':
      counters.emptyStreams += 1;
      if (counters.emptyStreams > RUN_LIMITS.emptyStreamsMax) return false;
      run.events.add({ type: 'recovered', turn: counters.turn, what: 'empty stream', count: counters.emptyStreams });
      await wait(
        run,
        RUN_LIMITS.emptyStreamBackoffMs * 2 ** (counters.emptyStreams - 1),
        `model, after ${counters.emptyStreams} empty streams`,
      );
      return true;
    default:
      return false;
  }
}

/** True when the failure's details suggest a lower output limit. */
function hintsAtOutput(details: unknown): boolean {
  return details !== null && typeof details === 'object' && 'hint' in details && details.hint === 'lower-output';
}

const BAD_JSON =
  'The arguments of your last tool call were not valid JSON, and the provider refused them. Send the call again, its arguments as one ' +
  'JSON object with every quote and line break inside strings escaped. The provider said: ';

const THINK_LESS =
  'You thought for longer than this run allows without an answer or a tool call. Decide now: call the next tool or answer, with little thinking.';

/** Compacts the transcript, then cuts its largest result. False when both were tried. */
async function shrinkTranscript(run: Run, overflows: number): Promise<boolean> {
  if (overflows === 1 && (await compactTranscript(run, 'overflow'))) return true;
  return overflows < RUN_LIMITS.overflowsMax && shortenLargest(run);
}

/** Waits with backoff. False when the model was unreachable for five minutes of working time; pauses do not count. */
async function waitForModel(run: Run, setbacks: Setbacks): Promise<boolean> {
  setbacks.unreachable += 1;
  setbacks.unreachableSinceMs ??= run.clock.workedMs;
  const backoffMs = unreachableBackoffMs(setbacks.unreachable, run.clock.workedMs - setbacks.unreachableSinceMs);
  if (backoffMs === undefined) return false;
  await wait(run, backoffMs, `model unreachable, attempt ${setbacks.unreachable}`);
  // the first model that is reachable again may answer, whatever cooldown other runs reported
  setbacks.tried.clear();
  setbacks.ignoresSharedCooldowns = run.policy.weighsFallbacks;
  run.route.cooldowns.forget('Model.Unreachable');
  return true;
}

/** The wait before the next attempt at an unreachable model, in milliseconds; undefined when its five minutes are over. */
export function unreachableBackoffMs(attempt: number, waitedMs: number): number | undefined {
  if (waitedMs >= RUN_LIMITS.modelUnreachableMsMax) return undefined;
  return Math.min(RUN_LIMITS.modelUnreachableBackoffMsMax, RUN_LIMITS.modelUnreachableBackoffMsMin * 2 ** (attempt - 1));
}
