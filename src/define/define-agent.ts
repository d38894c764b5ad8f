import { z } from 'zod';
import { FAILOVER_LIMITS, RUN_LIMITS } from '../contracts/constants/limits.js';
import { ThinkingSetting } from '../contracts/schemas/model.js';
import { AgentExecutor } from './agent-executor.js';
import { AgentGate } from './agent-gate.js';
import { CompletionGateFunction } from './completion-gate.js';
import { BudgetOptions, PolicyOptions } from './policy-options.js';
import { PresetName } from './presets.js';

/** An agent of the config: what it is told, which model and tools it has, and how its runs are judged. */
export const AgentDefinition = z.strictObject({
  description: z.string(),
  prompt: z.string().min(1),
  /** `provider/model`; absent: the config's. */
  model: z.string().optional(),
  /** Models to ask when the first one fails; in place of the config's. */
  fallbacks: z.array(z.string()).max(FAILOVER_LIMITS.fallbacksMax).optional(),
  /** How much its models are to think. @default the config's */
  thinking: ThinkingSetting.optional(),
  /** What does its thinking. @default a model */
  executor: AgentExecutor.optional(),
  /** Names of the tools it is offered; absent or empty: all. */
  tools: z.array(z.string()).optional(),
  /** Names of tools that are taken away from those. */
  blockedTools: z.array(z.string()).optional(),
  /** May this call run? A profile, rules, or a function that is asked before each call. @default all */
  gate: AgentGate.optional(),
  /** May this answer end the run? A function that is asked after the checks of `completion`. */
  completionGate: CompletionGateFunction.optional(),
  maxTurns: z.number().int().min(RUN_LIMITS.maxTurnsMin).max(RUN_LIMITS.maxTurnsMax).optional(),
  /** Caps where the run's input names none. */
  budget: BudgetOptions.optional(),
  /** Options of another runner, below the agent's own. */
  preset: PresetName.optional(),
  ...PolicyOptions.shape,
});
export type AgentDefinition = z.infer<typeof AgentDefinition>;

/** Types an agent's definition. It is checked with the whole config, so that all problems are told at once. */
export function defineAgent(agent: AgentDefinition): AgentDefinition {
  return agent;
}
