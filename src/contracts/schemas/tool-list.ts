import type { GatePolicy } from './policy.js';
import type { ToolDescriptor } from './tool.js';

/** The tools that an MCP server has now, as a hash. */
export interface ToolList {
  readonly server: string;
  readonly hash: string;
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
