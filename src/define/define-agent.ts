import { z } from 'zod';
import { FAILOVER_LIMITS, RUN_LIMITS, SUBAGENT_LIMITS } from '../contracts/constants/limits.js';
import { ThinkingSetting } from '../contracts/schemas/model.js';
import { SubagentsOnEnd } from '../contracts/schemas/subagent.js';
import { AgentPrompt, PromptOptions } from './agent/agent-prompt.js';
import { CompletionGateFunction } from './agent/completion-gate.js';
import { AgentExecutor } from './agent-executor.js';
import { AgentGate } from './agent-gate.js';
import { BudgetOptions, PolicyOptions } from './policy-options.js';
import { PresetName } from './presets.js';
import { HeartbeatTimeoutMs } from './worker/heartbeat-timeout.js';

const Names = z.array(z.string().min(1)).min(1);

/** Options of an agent for the agents that it may delegate to. */
export const SubagentOptions = z.strictObject({
  /** Names of the agents. */
  agents: Names,
  /** Levels of sub-agents: 2 lets those of this agent start some of their own. @default 1 */
  depth: z.number().int().min(1).max(SUBAGENT_LIMITS.depthMax).optional(),
  /** Sub-agents of one run at once. Further calls wait. @default 5 */
  liveMax: z.number().int().min(1).max(SUBAGENT_LIMITS.liveMax).optional(),
  /** The agent may be in its own list. @default false */
  allowSelf: z.boolean().optional(),
  /**
   * A final answer while sub-agents work in the background (`wait: false`): `wait` waits for them and gives their results to the model
   * first, `stop` stops them and ends the run. @default `wait`
   */
  onEnd: SubagentsOnEnd.optional(),
});
export type SubagentOptions = z.infer<typeof SubagentOptions>;

/** `subagents` of an agent: names, or names with options. */
export const Subagents = z.union([Names, SubagentOptions]);
export type Subagents = z.infer<typeof Subagents>;

/** The options of an agent; undefined for one that may not delegate. */
export function subagentOptions(subagents: Subagents | undefined): SubagentOptions | undefined {
  return Array.isArray(subagents) ? { agents: subagents } : subagents;
}

/** An agent of the config: its prompt, model, tools and policy. */
export const AgentDefinition = z.strictObject({
  /** Purpose of the agent, for readers of the config. */
  description: z.string(),
  /** System prompt: a text, or a function of the run. */
  prompt: AgentPrompt,
  /** `provider/model`, or a bare name. It overrides the environment and the config. @default `PERDURE_MODEL`, else the config's */
  model: z.string().optional(),
  /** Models that are called in this order when the first one fails. @default `PERDURE_FALLBACKS`, else the config's */
  fallbacks: z.array(z.string()).max(FAILOVER_LIMITS.fallbacksMax).optional(),
  /** How much the models think. @default the model's, else the config's */
  thinking: ThinkingSetting.optional(),
  /** Source of the answers: a model, a child process or a fixed text. @default `{ kind: 'llm' }`, a model */
  executor: AgentExecutor.optional(),
  /** Names of the tools that the model is offered; `SERVER_*` names all tools of an MCP server. An empty list means all. @default all */
  tools: z.array(z.string()).optional(),
  /** Names of tools that the model is not offered. @default none */
  blockedTools: z.array(z.string()).optional(),
  /**
   * Names of the MCP servers whose tools the model is offered. @default the servers whose tools `tools` names; all servers if `tools` is empty
   */
  mcp: z.array(z.string()).optional(),
  /** Agents that this one may delegate tasks to, with tool `delegate`: names, or names with options. @default none */
  subagents: Subagents.optional(),
  /** Agents that this one may hand the conversation to, with tool `handoff`: they continue the same run. @default none */
  handoffs: Names.optional(),
  /** Tool gate: a profile, rules with a profile, or a function that runs before each call. @default `all` */
  gate: AgentGate.optional(),
  /** Completion gate: a function that runs after the checks of `completion`. @default none */
  completionGate: CompletionGateFunction.optional(),
  /** Turn limit of runs whose input has none. @default the config's, else 20 */
  maxTurns: z.number().int().min(RUN_LIMITS.maxTurnsMin).max(RUN_LIMITS.maxTurnsMax).optional(),
  /** Limits of runs whose input has none. @default none */
  budget: BudgetOptions.optional(),
  /**
   * A worker counts as lost after this time without a heartbeat, in milliseconds: 10 s to an hour. The effect of a lost call then decides
   * whether it runs again. @default the worker's
   */
  heartbeatTimeoutMs: HeartbeatTimeoutMs.optional(),
  /** Defaults of another runner. Options of the agent override them. @default none */
  preset: PresetName.optional(),
  ...PromptOptions.shape,
  ...PolicyOptions.shape,
});
export type AgentDefinition = z.infer<typeof AgentDefinition>;

/** Returns its argument, typed. The definition is validated with the whole config, so that all problems are reported at once. */
export function defineAgent(agent: AgentDefinition): AgentDefinition {
  return agent;
}
