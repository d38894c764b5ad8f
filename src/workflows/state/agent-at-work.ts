import { hashJson } from '../../contracts/digest.js';
import type { CarriedState } from '../../contracts/schemas/carried-state.js';
import type { CarriedHandoffs, NextAgent } from '../../contracts/schemas/handoff.js';
import type { RunPolicy } from '../../contracts/schemas/policy.js';
import type { PreparedRun, TakenLists, ToolList } from '../../contracts/schemas/prepared-run.js';
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
  /** MCP servers whose tools are others than those that the run has taken. */
  readonly #changedServers = new Set<string>();
  /** MCP servers whose changed tools could not be read. */
  readonly #unreadServers = new Set<string>();

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

  /** Continues as another agent. What the run counts of its parent's notices stays: a newer worker may have prepared this agent. */
  become(next: PreparedRun): void {
    const { tellsOwnSubagents } = this.#policy;
    const prepared = next.policy ? { ...next, policy: { ...next.policy, tellsOwnSubagents } } : next;
    this.#prepared = prepared;
    this.#policy = policyOf(prepared);
    this.#tools = toolsOf(prepared);
    this.#setupTokens = setupTokensOf(prepared);
    this.#names.push(prepared.setup.agent);
  }

  /** Notes the tools that a server had after a call. Returns the notice about a list that could not be read, once until it could. */
  noteTools(list: ToolList | undefined): string | undefined {
    const { toolLists } = this.#prepared;
    if (!list || !toolLists) return undefined;
    const { server, hash, notice } = list;
    if (toolLists.hashes[server] === hash) this.#changedServers.delete(server);
    else this.#changedServers.add(server);
    const isNew = !this.#unreadServers.has(server);
    if (notice === undefined) this.#unreadServers.delete(server);
    else this.#unreadServers.add(server);
    return isNew ? notice : undefined;
  }

  /** True when a server changed its tools since the run took them. Asking forgets it: the next call of the server tells it again. */
  takeToolChange(): boolean {
    const { size } = this.#changedServers;
    this.#changedServers.clear();
    return size > 0;
  }

  /** Offers other tools from the next turn on. Without `toolLists`, the run keeps them from then on. */
  offer(tools: readonly ToolDescriptor[], toolLists: TakenLists | undefined): void {
    const { toolLists: _before, ...rest } = this.#prepared;
    const setup = { ...rest.setup, tools };
    this.#prepared = { ...rest, setup, setupHash: hashJson(setup), ...(toolLists ? { toolLists } : {}) };
    this.#tools = toolsOf(this.#prepared);
    this.#setupTokens = setupTokensOf(this.#prepared);
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
