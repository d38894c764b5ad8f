/** The search attributes a run writes, with Temporal's type names. `dev` and `doctor` register them; a server without them works. */
export const SEARCH_ATTRIBUTES = {
  AgentName: 'KEYWORD',
  AgentStatus: 'KEYWORD',
  AgentTenant: 'KEYWORD',
  AgentModel: 'KEYWORD',
  AgentCostUsd: 'DOUBLE',
  AgentTurns: 'INT',
  AgentPendingApprovals: 'INT',
  AgentSession: 'KEYWORD',
} as const satisfies Record<string, 'KEYWORD' | 'DOUBLE' | 'INT'>;

/** The name of one of them. */
export type SearchAttributeName = keyof typeof SEARCH_ATTRIBUTES;
