import { RUN_LIMITS } from '../../contracts/constants/limits.js';
import { wait } from '../operator/wait.js';
import type { ModelPair } from '../policies/model/next-model.js';
import type { Run } from '../state/run.js';
import type { ActivityProblem } from '../temporal/failures.js';
import { compactTranscript, shortenLargest } from './compact-transcript.js';
import { correct } from './corrections.js';
import { allFailed, failOver } from './fail-over.js';
import type { Setbacks } from './setbacks.js';

/** A call that failed. */
interface FailedCall {
  readonly pair: ModelPair;
  readonly problem: ActivityProblem;
  readonly setbacks: Setbacks;
  /** Of the reserved final call, when it must have ended: only what costs no time is tried. */
  readonly endsAt: number | undefined;
}

/** What comes of a failed call: the model, or another one, is asked again; or the question has failed, with what the run says of it. */
export type AfterFailure = { readonly again: true } | { readonly again: false; readonly type: string; readonly message: string };

/** Does what can be done about a failed call, and says whether a model is asked again. Each way has its own bound. */
export async function mayAskAgain(run: Run, { pair, problem, setbacks, endsAt }: FailedCall): Promise<AfterFailure> {
  const { turn } = run.counters;
  const { type, message } = problem;
  const final = endsAt !== undefined;
  if (problem.workerLost) {
    setbacks.workers += 1;
    run.events.add({ type: 'worker.lost', turn, activity: 'callModel', losses: setbacks.workers });
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
  if (type === 'Transcript.Moved' || type === 'Transcript.Unavailable') return again(mayReferAgain(run, setbacks), problem);
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
  const told = details !== null && typeof details === 'object' && 'requestId' in details ? details.requestId : undefined;
  return typeof told === 'string' ? { requestId: told } : {};
}

/** After a reference that no worker could follow: the next one presumes nothing. False once that was done too often. */
export function mayReferAgain(run: Run, setbacks: Pick<Setbacks, 'references'>): boolean {
  setbacks.references += 1;
  run.transcript.startFresh();
  return setbacks.references <= RUN_LIMITS.transcriptMovedMax;
}

/** The semantic recoveries: counted in a row, set back by any answer. */
async function recover(run: Run, { type, message, lastHeartbeat }: ActivityProblem, setbacks: Setbacks): Promise<boolean> {
  const { counters } = run;
  switch (type) {
    case 'Model.ContextOverflow':
      if (!setbacks.lowersOutput && hintsAtOutput(lastHeartbeat)) {
        setbacks.lowersOutput = true;
        return true;
      }
      setbacks.overflows += 1;
      return await makeRoom(run, setbacks.overflows);
    case 'Model.BadJson':
      counters.badJson += 1;
      if (counters.badJson > RUN_LIMITS.badJsonMax) return false;
      correct(run, { why: 'JSON the provider refused', text: `${BAD_JSON}${message.slice(0, 500)}`, attempt: counters.badJson });
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

/** What the failure said beside its message. */
function hintsAtOutput(details: unknown): boolean {
  return details !== null && typeof details === 'object' && 'hint' in details && details.hint === 'lower-output';
}

const BAD_JSON =
  'The arguments of your last tool call were not valid JSON, and the provider refused them. Send the call again, its arguments as one ' +
  'JSON object with every quote and line break inside strings escaped. The provider said: ';

const THINK_LESS =
  'You thought for longer than this run allows without an answer or a tool call. Decide now: call the next tool or answer, with little thinking.';

/** First the whole transcript is made shorter, then its largest result; after that there is nothing left to try. */
async function makeRoom(run: Run, overflows: number): Promise<boolean> {
  if (overflows === 1 && (await compactTranscript(run, 'overflow'))) return true;
  return overflows < RUN_LIMITS.overflowsMax && shortenLargest(run);
}

/** False when the model could not be reached for five minutes of working time: a pause does not count. */
async function waitForModel(run: Run, setbacks: Setbacks): Promise<boolean> {
  setbacks.unreachable += 1;
  setbacks.unreachableSinceMs ??= run.clock.workedMs;
  const backoffMs = unreachableBackoffMs(setbacks.unreachable, run.clock.workedMs - setbacks.unreachableSinceMs);
  if (backoffMs === undefined) return false;
  await wait(run, backoffMs, `model unreachable, attempt ${setbacks.unreachable}`);
  // whoever is back first may answer, whatever other runs say
  setbacks.tried.clear();
  setbacks.inEarnest = run.policy.weighsFallbacks;
  run.route.cooldowns.forget('Model.Unreachable');
  return true;
}

/** How long to wait before a model that cannot be reached is asked again; undefined when its five minutes are over. */
export function unreachableBackoffMs(attempt: number, waitedMs: number): number | undefined {
  if (waitedMs >= RUN_LIMITS.modelUnreachableMsMax) return undefined;
  return Math.min(RUN_LIMITS.modelUnreachableBackoffMsMax, RUN_LIMITS.modelUnreachableBackoffMsMin * 2 ** (attempt - 1));
}
