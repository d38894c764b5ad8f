import { addUsage, costOf, NO_USAGE } from '../../../../src/contracts/models/usage.js';
import type { ModelPrice, Usage } from '../../../../src/contracts/schemas/model.js';
import type { RunPolicy } from '../../../../src/contracts/schemas/policy.js';
import { finalOutputTokens, outputTokensAllowed } from '../../../../src/workflows/policies/stop/budget.js';
import { stopReason } from '../../../../src/workflows/policies/stop/stop-reason.js';
import { extendedCap } from '../../../../src/workflows/turn/extend-caps.js';

/** A turn as the model, its workers and its tools make it. Shares are of what was set aside. */
export interface SimulatedTurn {
  readonly answerShare: number;
  /** Workers that die before the answer: the share that their last heartbeat told, or nothing was heard of them. */
  readonly losses: readonly (number | undefined)[];
  readonly resultTokens: number;
  readonly isRepeating: boolean;
}

/** What a simulated run may use. */
export interface SimulatedCaps {
  readonly maxTurns: number;
  readonly maxTokens?: number;
  readonly maxCostUsd?: number;
  readonly price?: ModelPrice;
  readonly autoExtend?: RunPolicy['autoExtend'];
}

/** Input tokens of a simulated run's first request. */
export const FIRST_INPUT_TOKENS = 500;

/** The books of a run whose judgement is the real one, and whose model, workers and tools are a script. */
export class SimulatedRun {
  readonly #given: SimulatedCaps;
  /** Each turn cap it had. */
  readonly turnCaps: number[];
  turns = 0;
  requests = 0;
  used: Usage = NO_USAGE;
  finalUsage: Usage = NO_USAGE;
  /** What the tools of the last turn added to the input of the final call. */
  lastResultTokens = 0;
  #inputTokens = FIRST_INPUT_TOKENS;
  #isRepeating = false;

  constructor(caps: SimulatedCaps) {
    this.#given = caps;
    this.turnCaps = [caps.maxTurns];
  }

  /** Takes turns, from the first again when the script is over, until a cap ends the run; then the final call takes all it may. */
  play(script: readonly SimulatedTurn[]): this {
    while (this.#waitBeforeTurn()) {
      const turn = script[this.turns % script.length];
      if (turn) this.#take(turn);
    }
    this.requests += 1;
    this.finalUsage = this.#usage(finalOutputTokens(this.#facts()));
    return this;
  }

  #waitBeforeTurn(): boolean {
    const maxTurns = this.turnCaps.at(-1) ?? 0;
    const budgetSpent = outputTokensAllowed(this.#facts()) === 'spent';
    const stop = stopReason({ cancelRequested: false, deadlineReached: false, budgetSpent, turn: this.turns, maxTurns });
    if (stop !== 'max_turns') return stop === undefined;
    const cap = extendedCap({ autoExtend: this.#given.autoExtend, maxTurns, isRepeating: this.#isRepeating });
    if (cap !== undefined) this.turnCaps.push(cap);
    return cap !== undefined;
  }

  #take({ answerShare, losses, resultTokens, isRepeating }: SimulatedTurn): void {
    this.turns += 1;
    this.lastResultTokens = 0;
    this.#isRepeating = isRepeating;
    // who died without a word is charged all that was set aside
    for (const told of losses) this.#ask(told ?? 1);
    const outputTokens = this.#ask(answerShare);
    if (outputTokens === undefined) return;
    this.requests += 1;
    this.lastResultTokens = resultTokens;
    this.#inputTokens += outputTokens + resultTokens;
  }

  /** Charges one attempt and gives its output; undefined when the budget allows none. */
  #ask(share: number): number | undefined {
    const allowed = outputTokensAllowed(this.#facts());
    if (allowed === 'spent') return undefined;
    const outputTokens = Math.floor(allowed * share);
    this.used = addUsage(this.used, this.#usage(outputTokens));
    return outputTokens;
  }

  #usage(outputTokens: number): Usage {
    return { ...NO_USAGE, inputTokens: this.#inputTokens, outputTokens };
  }

  #facts(): Parameters<typeof outputTokensAllowed>[0] {
    const { maxTokens, maxCostUsd, price } = this.#given;
    const costUsd = price ? costOf(this.used, price) : 0;
    return {
      used: this.used,
      costUsd,
      maxTokens,
      maxCostUsd,
      price,
      inputTokens: this.#inputTokens,
      finalReadsAnswer: true,
      thinkingTokens: 0,
    };
  }
}
