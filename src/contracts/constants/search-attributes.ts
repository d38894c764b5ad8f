/** Search attributes that a run writes, with Temporal's type names. `dev` and `doctor --fix` register them. They are optional. */
export const SEARCH_ATTRIBUTES = {
  /** Name of the agent. */
  AgentName: 'KEYWORD',
  /** `running`, `paused`, `waiting`, or the reason of the end. */
  AgentStatus: 'KEYWORD',
  /** `tenant` of the input. */
  AgentTenant: 'KEYWORD',
  /** The current model. */
  AgentModel: 'KEYWORD',
  /** Cost so far in USD. */
  AgentCostUsd: 'DOUBLE',
  /** Turns so far. */
  AgentTurns: 'INT',
  /** Number of pending approvals. */
  AgentPendingApprovals: 'INT',
  /** `session` of the input. */
  AgentSession: 'KEYWORD',
} as const satisfies Record<string, 'KEYWORD' | 'DOUBLE' | 'INT'>;

/** Name of a search attribute. */
export type SearchAttributeName = keyof typeof SEARCH_ATTRIBUTES;
