import type { PreparedRun } from '../../contracts/schemas/prepared-run.js';
import type { RunInput } from '../../contracts/schemas/run.js';
import type { AgentDefinition } from '../../define/define-agent.js';
import type { AnyToolDefinition } from '../../define/define-tool.js';
import { type DelegationFacts, delegationOf } from './delegation.js';
import { handoffsOf } from './handoffs.js';

/** The agents that a run may start or be handed to: what is captured of them, and the tools for them. */
export interface OtherAgents {
  readonly prepared: Pick<PreparedRun, 'delegation' | 'handoffs'>;
  readonly tools: readonly AnyToolDefinition[];
}

/** What a run may do with other agents; nothing for an agent that lists none. */
export function otherAgents(input: RunInput, agent: AgentDefinition, facts: DelegationFacts): OtherAgents {
  const delegation = delegationOf(input, agent, facts);
  const handoffs = handoffsOf(agent, facts);
  return {
    prepared: { ...(delegation && { delegation: delegation.delegation }), ...(handoffs && { handoffs: handoffs.handoffs }) },
    tools: [...(delegation ? [delegation.tool] : []), ...(handoffs ? [handoffs.tool] : [])],
  };
}
