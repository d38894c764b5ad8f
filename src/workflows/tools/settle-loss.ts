import { RUN_LIMITS, TOOL_LIMITS } from '../../contracts/constants/limits.js';
import type { Effect } from '../../contracts/schemas/tool.js';
import type { Run } from '../state/run.js';
import type { ActivityProblem } from '../temporal/failures.js';
import { reconcileTool } from '../temporal/proxies.js';
import { EarlierAttempt } from './earlier-attempt.js';
import { type Settled, settledBy, settledOwn } from './settled-call.js';
import { type OpenCall, startOnHost } from './start-on-host.js';
import { unknownOutcomeResult } from './tool-results.js';

/** The losses of one call so far. */
export interface LossState {
  losses: number;
  /** `not_started` restarts a call once only. */
  reconciled: boolean;
}

/**
 * Settles a call after a lost worker: by the result that its host has, else by the tool's effect. Undefined: run the call again with the
 * same idempotency key.
 */
export async function settleLoss(
  run: Run,
  open: OpenCall,
  { problem, state }: { readonly problem: ActivityProblem; readonly state: LossState },
): Promise<Settled | undefined> {
  const { call, tool } = open;
  const earlier = run.policy.provesLosses ? new EarlierAttempt(run, open, problem) : undefined;
  const recalled = tool.effect === 'read' || run.mustStop ? undefined : await earlier?.recall();
  if (recalled) return found(run, open, recalled, state);
  const next = afterWorkerLoss({ effect: tool.effect, hasReconcile: tool.hasReconcile, losses: state.losses });
  if (next === 'again') return undefined;
  const unknown = (): Settled => settledOwn(unknownOutcomeResult(call, run.counters.turn, earlier?.kind), 'unknown');
  if (next === 'unknown' || state.reconciled || run.mustStop) return unknown();
  state.reconciled = true;
  const first = await reconcile(run, open);
  if (first !== 'not_started') return first ?? unknown();
  if (!earlier || earlier.isOver) return undefined;
  // a worker that could not be reached may still start the effect
  const late = await earlier.untilOver();
  if (late) return found(run, open, late, state);
  if (!earlier.isOver || run.mustStop) return unknown();
  const second = await reconcile(run, open);
  return second === 'not_started' ? undefined : (second ?? unknown());
}

function found(run: Run, { call }: OpenCall, settled: Settled, { losses }: LossState): Settled {
  run.events.add({ type: 'recovered', turn: run.counters.turn, what: `result of ${call.name} from its worker`, count: losses });
  return settled;
}

/** Asks the tool's `reconcile`. Undefined when the outcome stays unknown. */
async function reconcile(run: Run, { call, tool, input }: OpenCall): Promise<Settled | 'not_started' | undefined> {
  const { heartbeatTimeoutMs } = run.prepared;
  for (let losses = 0; losses < TOOL_LIMITS.attemptsMax; losses += 1) {
    const { result, problem } = await startOnHost(run, tool, (placement) =>
      reconcileTool(input, { summary: `turn ${run.counters.turn}: reconcile ${call.name}`, heartbeatTimeoutMs, placement }),
    );
    if (result?.kind === 'done') return settledBy(result.result);
    if (result?.kind === 'not_started') return 'not_started';
    if (result || run.mustStop || !problem.workerLost) return undefined;
  }
  return undefined;
}

/** What to do after the worker of a tool call was lost. */
export type AfterLoss = 'again' | 'reconcile' | 'unknown';

/** Decides by effect: `read` and `idempotent` calls run again with the same key; a `once` call is reconciled, or its outcome is unknown. */
export function afterWorkerLoss(facts: { effect: Effect; hasReconcile: boolean; losses: number }): AfterLoss {
  if (facts.losses > RUN_LIMITS.workerLossesMax) return 'unknown';
  if (facts.effect !== 'once') return 'again';
  return facts.hasReconcile ? 'reconcile' : 'unknown';
}
