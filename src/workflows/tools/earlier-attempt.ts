import { condition } from '@temporalio/workflow';
import type { RecallResult } from '../../contracts/activities.js';
import { LOSS_LIMITS, TOOL_LIMITS } from '../../contracts/constants/limits.js';
import { whileWaiting } from '../operator/wait.js';
import type { Run } from '../state/run.js';
import type { ActivityProblem, LossKind } from '../temporal/failures.js';
import { heartbeatTimeoutOf, recallResult, type ToolPlacement } from '../temporal/proxies.js';
import { type Settled, settledBy } from './settled-call.js';
import { attempt, type OpenCall, placementFor } from './start-on-host.js';

/**
 * The attempt of a tool call whose worker was lost: what is known of it. It may still run, unless its worker died, its worker reported
 * that it had ended, or its own time limit has passed.
 */
export class EarlierAttempt {
  readonly #run: Run;
  readonly #open: OpenCall;
  readonly #queue: string | undefined;
  readonly #hasReported: boolean;
  #kind: LossKind;
  #isOver: boolean;
  /** When its own time limit has passed, in milliseconds since 1970. */
  #endsAt: number;

  constructor(run: Run, open: OpenCall, problem: ActivityProblem) {
    const { queue, elapsedMs = 0, ended } = readDetails(problem.lastHeartbeat);
    this.#run = run;
    this.#open = open;
    this.#queue = queue ?? placementFor(run, open.tool).queue;
    this.#kind = problem.loss ?? 'unreachable';
    this.#hasReported = ended === true;
    this.#isOver = this.#hasReported || this.#kind === 'died';
    this.#endsAt = Date.now() + remainingMs(run, open, { type: problem.type, elapsedMs });
  }

  /** True with proof that the attempt cannot run any more. */
  get isOver(): boolean {
    return this.#isOver || Date.now() >= this.#endsAt;
  }

  /** How the attempt was lost, as far as it is known by now. */
  get kind(): LossKind {
    return this.#kind;
  }

  /** The result that the host of the attempt has for it. Waits for a tool that still runs there. */
  async recall(): Promise<Settled | undefined> {
    // a worker that reported the end of the attempt has no result of it
    if (this.#hasReported) return undefined;
    const found = await this.#ask();
    if (found?.kind === 'done') return settledBy(found.result);
    return found?.kind === 'running' ? await this.untilOver() : undefined;
  }

  /**
   * Waits until the attempt cannot run any more, 10 minutes at most, and asks its host now and then. Resolves early with its result, or
   * when the run must stop. `isOver` tells whether the wait was long enough.
   */
  async untilOver(): Promise<Settled | undefined> {
    const run = this.#run;
    const until = Math.min(this.#endsAt, Date.now() + LOSS_LIMITS.earlierAttemptMsMax);
    const reason = `the earlier attempt of ${this.#open.call.name} may still run until ${new Date(this.#endsAt).toISOString()}`;
    return await whileWaiting(run, reason, async () => {
      let pauseMs: number = LOSS_LIMITS.askAgainMsMin;
      while (!this.isOver && !run.mustStop && Date.now() < until) {
        await condition(() => run.mustStop, Math.max(1, Math.min(pauseMs, until - Date.now())));
        pauseMs = Math.min(2 * pauseMs, LOSS_LIMITS.askAgainMsMax);
        const found = run.mustStop ? undefined : await this.#ask();
        if (found?.kind === 'done') return settledBy(found.result);
      }
      return undefined;
    });
  }

  /** Asks the host of the attempt; undefined if it does not answer. */
  async #ask(): Promise<RecallResult | undefined> {
    const run = this.#run;
    const { call, input } = this.#open;
    const { runId, turn, key } = input;
    const summary = `turn ${turn}: ask for the result of ${call.name}`;
    const { result } = await attempt(run, () => recallResult({ runId, turn, key }, { summary, placement: this.#placement() }));
    if (result?.kind === 'running') this.#endsAt = Date.now() + limitMs(this.#open) - result.elapsedMs;
    if (result?.kind === 'stopped') {
      this.#isOver = true;
      if (this.#kind === 'unreachable') this.#kind = 'lost contact';
    }
    return result;
  }

  #placement(): ToolPlacement {
    return {
      ...(this.#queue === undefined ? {} : { queue: this.#queue }),
      queueWaitMs: this.#kind === 'died' ? LOSS_LIMITS.recallWaitAfterDeathMs : LOSS_LIMITS.recallWaitMs,
    };
  }
}

/** The time limit of an attempt, as the server applies it. */
function limitMs({ input }: OpenCall): number {
  return input.timeoutMs + TOOL_LIMITS.timeoutMarginMs;
}

/** The time until the attempt's own limit has passed. It is counted from its last heartbeat, because its start is not known here. */
function remainingMs(run: Run, open: OpenCall, { type, elapsedMs }: { readonly type: string; readonly elapsedMs: number }): number {
  switch (type) {
    case 'Timeout.START_TO_CLOSE':
      return 0;
    case 'Timeout.HEARTBEAT':
      // the last heartbeat came this long ago, at least
      return limitMs(open) - elapsedMs - heartbeatTimeoutOf(run.prepared.heartbeatTimeoutMs, limitMs(open));
    default:
      return limitMs(open) - elapsedMs;
  }
}

interface ReadDetails {
  readonly queue?: string;
  readonly elapsedMs?: number;
  readonly ended?: boolean;
}

/** Reads the details of a lost attempt, which another version of the worker may have written. */
function readDetails(given: unknown): ReadDetails {
  if (typeof given !== 'object' || given === null) return {};
  const { queue, elapsedMs, ended }: { queue?: unknown; elapsedMs?: unknown; ended?: unknown } = given;
  return {
    ...(typeof queue === 'string' ? { queue } : {}),
    ...(typeof elapsedMs === 'number' ? { elapsedMs } : {}),
    ...(typeof ended === 'boolean' ? { ended } : {}),
  };
}
