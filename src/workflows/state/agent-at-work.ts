import type { CarriedState } from '../../contracts/schemas/carried-state.js';
import type { CarriedHandoffs, NextAgent } from '../../contracts/schemas/handoff.js';
import type { RunPolicy } from '../../contracts/schemas/policy.js';
import type { PreparedRun } from '../../contracts/schemas/prepared-run.js';
import type { ToolDescriptor } from '../../contracts/schemas/tool.js';
import { CHARS_PER_TOKEN } from '../../contracts/text/estimate-tokens.js';
import { POLICY_OF_0_1 } from '../policies/policy-baseline.js';

/** The agent at work on a run, with what was captured of it; the agents before it, and the one that continues from the next turn on. */
export class AgentAtWork {
  #prepared: PreparedRun;
  #policy: RunPolicy;
  #tools: ReadonlyMap<string, ToolDescriptor>;
  #setupTokens: number;
  readonly #names: string[];
  #next: NextAgent | undefined;
  /** The call whose agent is being prepared: a second handoff of the same answer does not count. */
  #claimedBy: string | undefined;

  constructor(prepared: PreparedRun, carried?: CarriedHandoffs) {
    this.#prepared = prepared;
    this.#policy = policyOf(prepared);
    this.#tools = toolsOf(prepared);
    this.#setupTokens = setupTokensOf(prepared);
    this.#names = [...(carried?.agents ?? [prepared.setup.agent])];
    this.#next = carried?.next;
    this.#claimedBy = carried?.next?.callId;
  }

  get prepared(): PreparedRun {
    return this.#prepared;
  }

  get policy(): RunPolicy {
    return this.#policy;
  }

  /** Its tools, by name. */
  get tools(): ReadonlyMap<string, ToolDescriptor> {
    return this.#tools;
  }

  /** Estimated tokens of prompt and tools. */
  get setupTokens(): number {
    return this.#setupTokens;
  }

  /** The agents that worked on the run, in order. */
  get names(): readonly string[] {
    return this.#names;
  }

  /** The number of handoffs so far. */
  get handoffs(): number {
    return this.#names.length - 1;
  }

  /** Claims the handoff of an answer for a call. False when another call has it. */
  claim(callId: string): boolean {
    this.#claimedBy ??= callId;
    return this.#claimedBy === callId;
  }

  /** Sets the agent that continues after the turn. */
  setNext(next: NextAgent): void {
    this.#next = next;
  }

  /** Ends a turn: takes the agent that continues, if there is one. */
  takeNext(): NextAgent | undefined {
    const next = this.#next;
    this.#next = undefined;
    this.#claimedBy = undefined;
    return next;
  }

  /** Continues as another agent. */
  become(prepared: PreparedRun): void {
    this.#prepared = prepared;
    this.#policy = policyOf(prepared);
    this.#tools = toolsOf(prepared);
    this.#setupTokens = setupTokensOf(prepared);
    this.#names.push(prepared.setup.agent);
  }

  /** The state that continue-as-new carries over; nothing of handoffs before the first one. */
  carry(): Pick<CarriedState, 'prepared' | 'handoffs'> {
    const prepared = this.#prepared;
    if (this.handoffs === 0 && !this.#next) return { prepared };
    return { prepared, handoffs: { agents: [...this.#names], ...(this.#next ? { next: this.#next } : {}) } };
  }
}

/** An option that did not exist when the run was prepared is off, so that the run replays as it ran. */
function policyOf({ policy }: PreparedRun): RunPolicy {
  return { ...POLICY_OF_0_1, ...policy };
}

function toolsOf({ setup }: PreparedRun): ReadonlyMap<string, ToolDescriptor> {
  return new Map(setup.tools.map((tool) => [tool.name, tool]));
}

function setupTokensOf({ setup }: PreparedRun): number {
  return Math.ceil(JSON.stringify(setup).length / CHARS_PER_TOKEN);
}
