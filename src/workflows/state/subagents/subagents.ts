import { SUBAGENT_LIMITS } from '../../../contracts/constants/limits.js';
import type { CarriedState } from '../../../contracts/schemas/carried-state.js';
import type { ArrivedResult, CarriedSubagents, EndedSubagent, LiveSubagent } from '../../../contracts/schemas/subagent.js';

/** The sub-agents of a run: those at work, with what is reserved for them, and those that ended. */
export class Subagents {
  /** Calls that have a place, also before their sub-agent is started. */
  readonly #places = new Set<string>();
  /** Calls of the current answer that are still to be started. */
  #callsToStart = 0;
  readonly #started: Map<string, number>;
  readonly #live: Map<string, LiveSubagent>;
  /** Calls whose sub-agents an earlier history started. */
  readonly #carried: ReadonlySet<string>;
  readonly #ended: EndedSubagent[];
  #arrived: readonly ArrivedResult[];
  /** The model has answered, and the run waits for sub-agents in the background. */
  answered: boolean;
  /** The run ends: the sub-agents at work must stop. */
  mustStop = false;

  constructor(carried?: CarriedSubagents) {
    this.#started = new Map(carried?.started);
    this.#live = new Map((carried?.live ?? []).map((subagent) => [subagent.callId, subagent]));
    this.#carried = new Set(this.#live.keys());
    this.#ended = [...(carried?.ended ?? [])];
    this.#arrived = carried?.arrived ?? [];
    this.answered = carried?.answered ?? false;
  }

  /** The sub-agents at work whose calls have returned already. */
  get inBackground(): readonly LiveSubagent[] {
    return this.live.filter(({ background }) => background);
  }

  /** Results of sub-agents in the background that the model has yet to read, in the order of the ends. */
  get arrived(): readonly ArrivedResult[] {
    return this.#arrived;
  }

  /** Keeps the result of a sub-agent in the background for the model. */
  arrive(result: ArrivedResult): void {
    this.#arrived = [...this.#arrived, result];
  }

  /** Takes the results for the model. */
  takeArrived(): readonly ArrivedResult[] {
    const taken = this.#arrived;
    this.#arrived = [];
    return taken;
  }

  get live(): readonly LiveSubagent[] {
    return [...this.#live.values()];
  }

  /** The sub-agents at work that this history started: the server cancels them when it ends. */
  get own(): readonly LiveSubagent[] {
    return this.live.filter(({ callId }) => !this.#carried.has(callId));
  }

  get ended(): readonly EndedSubagent[] {
    return this.#ended;
  }

  /** The sub-agent at work on a call. */
  ofCall(callId: string): LiveSubagent | undefined {
    return this.#live.get(callId);
  }

  /** Takes a place for a call at once, so that calls that ask together do not take the same one. False if all are taken. */
  takePlace(callId: string, max: number): boolean {
    const taken = new Set([...this.#live.keys(), ...this.#places]);
    if (!taken.has(callId) && taken.size >= max) return false;
    this.#places.add(callId);
    return true;
  }

  /** True if a call could have a place. */
  hasPlace(callId: string, max: number): boolean {
    const taken = new Set([...this.#live.keys(), ...this.#places]);
    return taken.has(callId) || taken.size < max;
  }

  freePlace(callId: string): void {
    this.#places.delete(callId);
  }

  /** What is reserved for all sub-agents at work. */
  get reserved(): { readonly tokens: number; readonly costUsd: number } {
    const sum = { tokens: 0, costUsd: 0 };
    for (const { share } of this.#live.values()) {
      sum.tokens += share.tokens ?? 0;
      sum.costUsd += share.costUsd ?? 0;
    }
    return sum;
  }

  /** The number of the next sub-agent of an agent, from 1. */
  nextNumber(agent: string): number {
    const number = (this.#started.get(agent) ?? 0) + 1;
    this.#started.set(agent, number);
    return number;
  }

  add(subagent: LiveSubagent): void {
    this.#live.set(subagent.callId, subagent);
  }

  /** Ends the sub-agent of a call: what was reserved for it is free again. */
  end(callId: string, ended: EndedSubagent): void {
    this.#live.delete(callId);
    this.#ended.push(ended);
    if (this.#ended.length > SUBAGENT_LIMITS.resultRecordsMax) this.#ended.shift();
  }

  /** Forgets a sub-agent that could not be started. */
  drop(callId: string): void {
    this.#live.delete(callId);
  }

  /** Sets how many calls of an answer are to be started. */
  expectCalls(count: number): void {
    this.#callsToStart = count;
  }

  /** Takes one of the calls that are still to be started. Returns how many there were, at least 1. */
  takeCall(): number {
    const calls = Math.max(1, this.#callsToStart);
    this.#callsToStart = calls - 1;
    return calls;
  }

  /** The state that continue-as-new carries over; nothing before the first sub-agent. */
  carry(): Pick<CarriedState, 'subagents'> {
    if (this.#started.size === 0) return {};
    const live = this.live.map((subagent) => ({ ...subagent }));
    return {
      subagents: {
        started: [...this.#started],
        live,
        ended: [...this.#ended],
        ...(this.#arrived.length === 0 ? {} : { arrived: [...this.#arrived] }),
        ...(this.answered ? { answered: true } : {}),
      },
    };
  }
}
