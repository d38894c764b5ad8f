import { z } from 'zod';
import { CONVERSATION_LEVEL, DELEGATION_LEVEL } from '../../contracts/capability-level.js';
import { SUBAGENT_LIMITS } from '../../contracts/constants/limits.js';
import type { PreparedRun } from '../../contracts/schemas/prepared-run.js';
import type { RunInput } from '../../contracts/schemas/run.js';
import type { PreparedDelegation } from '../../contracts/schemas/subagent.js';
import { DELEGATE_TOOL } from '../../contracts/text/ids.js';
import { type AgentDefinition, subagentOptions } from '../../define/define-agent.js';
import type { Config } from '../../define/define-config.js';
import { type AnyToolDefinition, defineTool } from '../../define/define-tool.js';
import { failure } from '../runtime/failures.js';

/** The facts beside the input and the agent. */
export interface DelegationFacts {
  readonly config: Config;
  /** What the workflow code can do. */
  readonly level: number | undefined;
  /** Starts need a signature. */
  readonly signs: boolean;
}

/** The sub-agents that a run may start, and the tool for them. */
export interface Delegation {
  readonly delegation: PreparedDelegation;
  readonly tool: AnyToolDefinition;
}

/** What a run may delegate; undefined for an agent without sub-agents, and at the last level of them. */
export function delegationOf(input: RunInput, agent: AgentDefinition, facts: DelegationFacts): Delegation | undefined {
  const options = subagentOptions(agent.subagents);
  const depthLeft = input.parent?.depthLeft ?? options?.depth ?? SUBAGENT_LIMITS.depthDefault;
  if (!options || depthLeft < 1 || facts.level === undefined || facts.level < DELEGATION_LEVEL) return undefined;
  const { agents = {} } = facts.config;
  const found = options.agents.flatMap((name) => (Object.hasOwn(agents, name) ? [{ name, agent: agents[name] }] : []));
  if (found.length === 0) return undefined;
  return {
    delegation: {
      agents: found.map(({ name, agent: { model } = {} }) => ({ name, ...(model === undefined ? {} : { hasModel: true }) })),
      depthLeft,
      liveMax: options.liveMax ?? SUBAGENT_LIMITS.liveMax,
      ...(facts.signs ? { signs: true } : {}),
    },
    tool: delegateTool(found.map(({ name, agent: { description = '' } = {} }) => ({ name, description }))),
  };
}

/** Refuses a parent in the input of workflow code that does not check it itself. Throws `Input.Invalid`. */
export function checkParent(level: number | undefined): void {
  if (level === undefined || level < DELEGATION_LEVEL) throw failure('Input.Invalid', 'BAD_INPUT parent: unknown');
}

/** Refuses the conversation of a session for workflow code that would ignore it: the agent would have no memory. Throws `Input.Invalid`. */
export function checkConversation(level: number | undefined): void {
  if (level === undefined || level < CONVERSATION_LEVEL)
    throw failure('Input.Invalid', 'BAD_INPUT inherits: unknown; update all workers of this queue before you use sessions');
}

/** True for an agent that is a child process, or that can reach one through its sub-agents. */
export function startsProcess(agent: AgentDefinition, { agents = {} }: Config): boolean {
  const reached = new Set([agent]);
  // a set is iterated over what is added meanwhile
  for (const { executor, subagents } of reached) {
    if (executor?.kind === 'subprocess') return true;
    for (const name of subagentOptions(subagents)?.agents ?? []) {
      const next = Object.hasOwn(agents, name) ? agents[name] : undefined;
      if (next) reached.add(next);
    }
  }
  return false;
}

/** The gate of a sub-agent: its own, else that of its parent's agent. */
export function inheritGate(
  { parent }: RunInput,
  agent: AgentDefinition,
  { agents = {} }: Config,
): { readonly agent: AgentDefinition } & Pick<PreparedRun, 'gateAgent'> {
  const gate = parent && Object.hasOwn(agents, parent.agent) ? agents[parent.agent]?.gate : undefined;
  if (!parent || gate === undefined || agent.gate !== undefined) return { agent };
  return { agent: { ...agent, gate }, ...(typeof gate === 'function' ? { gateAgent: parent.agent } : {}) };
}

/** The tool `delegate`, for its descriptor: the workflow answers its calls. Its gate counts it as a read: sub-agents have gates themselves. */
function delegateTool(agents: readonly { readonly name: string; readonly description: string }[]): AnyToolDefinition {
  const list = agents.map(({ name, description }) => `- ${name}: ${description}`).join('\n');
  return defineTool({
    name: DELEGATE_TOOL,
    description:
      'Give a task to another agent and wait for its answer. It does not see this conversation: the task must say all that it needs to ' +
      `know, and what to answer. Several calls in one answer run at the same time. Agents:\n${list}`,
    parameters: z.strictObject({
      agent: z.enum(agents.map(({ name }) => name)).describe('Name of the agent.'),
      task: z.string().min(1).max(SUBAGENT_LIMITS.taskCharsMax).describe('The task, complete in itself.'),
    }),
    effect: 'read',
    network: false,
    execute: () => {
      throw new Error('the run starts its sub-agents itself');
    },
  });
}
