import type { Message } from './message.js';
import type { ModelPrice } from './model.js';
import type { ModelCandidate } from './model-route.js';
import type { GatePolicy, RunPolicy } from './policy.js';
import type { PreparedDelegation } from './subagent.js';
import type { ToolDescriptor } from './tool.js';

/** The part of a run that never changes: captured when the run starts, returned by query `setup`. */
export interface RunSetup {
  /** Name of the agent. */
  readonly agent: string;
  /** The system prompt. */
  readonly prompt: string;
  /** The tools that the model is offered. */
  readonly tools: readonly ToolDescriptor[];
  /** The range of `prompt` that came from system messages of the input, in UTF-16 units. A continued run is given it again. */
  readonly given?: { readonly from: number; readonly to: number };
}

/** The tenant of a run, when it has limits. */
export interface PreparedTenant {
  readonly name: string;
  /** Its money is limited, so models of unknown price are refused. */
  readonly limitsCost?: boolean;
}

/** What `prepareRun` captured for the tool `handoff`. */
export interface PreparedHandoffs {
  /** Names of the agents that the conversation may be handed to. */
  readonly agents: readonly string[];
  /** The preparation of an agent needs a signature of the server's owner. */
  readonly signs?: boolean;
}

/** The tools that an MCP server has now, as a hash. */
export interface ToolList {
  readonly server: string;
  readonly hash: string;
  /** Why a changed list could not be read, in one line. The hash is then that of the list before. */
  readonly notice?: string;
}

/** The tool lists of MCP servers that a run has taken. */
export interface TakenLists {
  /** Hash of the list by name of the server. */
  readonly hashes: Readonly<Record<string, string>>;
  /** How many changed lists the run has taken. */
  readonly changes: number;
}

/** Input of activity `listTools`, which lists the tools of MCP servers again. */
export interface ListToolsInput {
  readonly runId: string;
  readonly executionId: string;
  readonly setupHash: string;
  readonly agent: string;
  /** Agent whose gate applies to an agent without one. */
  readonly gateFrom?: string;
  readonly gate: GatePolicy;
  readonly workspace?: string;
  /** What the run's workflow code can do. @default nothing that a level brought */
  readonly level?: number;
}

/** All tools that the run is offered now, and the names that differ. `problem`: the run keeps its tools. */
export type ListToolsResult =
  | { readonly problem: string }
  | {
      readonly tools: readonly ToolDescriptor[];
      readonly hashes: Readonly<Record<string, string>>;
      readonly added: readonly string[];
      readonly removed: readonly string[];
      readonly changed: readonly string[];
      readonly notices: readonly string[];
    };

/** Result of activity `prepareRun`: everything that was resolved for the run, so that a changed config does not change a running agent. */
export interface PreparedRun {
  readonly setup: RunSetup;
  readonly setupHash: string;
  readonly configHash: string;
  readonly model: string;
  readonly maxTurns: number;
  /** The limits of the input, else of the agent. */
  readonly maxTokens?: number;
  readonly maxCostUsd?: number;
  readonly deadlineMs?: number;
  readonly price?: ModelPrice;
  /** The price is unknown and `allowUnknownPrice` is set: the cost limit is not enforced. */
  readonly priceUnknown?: boolean;
  readonly contextWindow: number;
  /** The models that may be asked, in order. Absent in runs of older versions, which ask `model` alone. */
  readonly route?: readonly ModelCandidate[];
  /** Price of the model that writes summaries, when the policy names one. */
  readonly summaryPrice?: ModelPrice;
  /** The name under which providers cache the prompt. It is the same for all runs of a session. */
  readonly cacheKey?: string;
  /** Deviations that operators should see, such as a fallback that was left out or a level of thinking that was mapped. */
  readonly notices?: readonly string[];
  /** Absent in runs that version 0.1 prepared. They keep the behaviour that they started with. */
  readonly policy?: RunPolicy;
  /** Task queue of the host that has the workspace or the executor process. Absent: the run's own queue. */
  readonly toolQueue?: string;
  /** Time without a heartbeat after which a worker of this run is lost, in milliseconds. Absent: WORKER_LIMITS.heartbeatTimeoutMs. */
  readonly heartbeatTimeoutMs?: number;
  /** Approvals and extensions count only with a signature of the server's owner. Absent: false. */
  readonly signed?: boolean;
  /** Absent: the run has no tenant, or its tenant has no limits. */
  readonly tenant?: PreparedTenant;
  /** Absent: the run starts no sub-agents. */
  readonly delegation?: PreparedDelegation;
  /** Absent: the run is handed to no other agent. */
  readonly handoffs?: PreparedHandoffs;
  /** The run ends its background commands before it closes. Absent: it can start none, or its workflow code is older. */
  readonly endsCommands?: boolean;
  /** Absent: the run has no tools of MCP servers, or keeps those that it started with. */
  readonly toolLists?: TakenLists;
  /** Turns of earlier runs, which the transcript begins with. Absent: the run starts fresh. */
  readonly recalled?: readonly Message[];
  /** Agent whose gate function applies, for an agent without a gate of its own. Absent: the agent of the run. */
  readonly gateAgent?: string;
  /** Agent whose gate applies, function or not, for an agent without a gate of its own. Absent: the agent of the run. */
  readonly gateFrom?: string;
  /** Search attributes that the server has. Writing any other one fails the workflow task on every attempt. */
  readonly searchAttributes: readonly string[];
}
