import { z } from 'zod';
import { CONVERSATION_LEVEL, DELEGATION_LEVEL, HANDOFF_LEVEL } from '../../contracts/capability-level.js';
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
  const background = facts.level >= HANDOFF_LEVEL ? { background: { onEnd: options.onEnd ?? 'wait' } } : {};
  return {
    delegation: {
      agents: found.map(({ name, agent: { model } = {} }) => ({ name, ...(model === undefined ? {} : { hasModel: true }) })),
      depthLeft,
      liveMax: options.liveMax ?? SUBAGENT_LIMITS.liveMax,
      ...(facts.signs ? { signs: true } : {}),
      ...background,
    },
    tool: delegateTool(
      found.map(({ name, agent: { description = '' } = {} }) => ({ name, description })),
      facts.level >= HANDOFF_LEVEL,
    ),
  };
}

/**
 * Refuses a parent in the input of workflow code that does not check it itself, and the conversation of a session for workflow code that
 * would ignore it: the agent would have no memory. Throws `Input.Invalid`.
 */
export function checkLevel({ parent, inherits }: RunInput, level = 0): void {
  if (parent && level < DELEGATION_LEVEL) throw failure('Input.Invalid', 'BAD_INPUT parent: unknown');
  if (!inherits || level >= CONVERSATION_LEVEL) return;
  throw failure('Input.Invalid', 'BAD_INPUT inherits: unknown; update all workers of this queue before you use sessions');
}

/** True for an agent that is a child process, or that can reach one through its sub-agents and handoffs. */
export function startsProcess(agent: AgentDefinition, { agents = {} }: Config): boolean {
  const reached = new Set([agent]);
  // a set is iterated over what is added meanwhile
  for (const { executor, subagents, handoffs = [] } of reached) {
    if (executor?.kind === 'subprocess') return true;
    for (const name of [...(subagentOptions(subagents)?.agents ?? []), ...handoffs]) {
      const next = Object.hasOwn(agents, name) ? agents[name] : undefined;
      if (next) reached.add(next);
    }
  }
  return false;
}

/** The gate of an agent that another one started or handed over to: its own, else that of agent `from`. */
export function inheritGate(
  from: string | undefined,
  agent: AgentDefinition,
  { agents = {} }: Config,
): { readonly agent: AgentDefinition } & Pick<PreparedRun, 'gateAgent' | 'gateFrom'> {
  const gate = from !== undefined && Object.hasOwn(agents, from) ? agents[from]?.gate : undefined;
  if (from === undefined || gate === undefined || agent.gate !== undefined) return { agent };
  return { agent: { ...agent, gate }, gateFrom: from, ...(typeof gate === 'function' ? { gateAgent: from } : {}) };
}

const NO_WAIT = 'With wait: false the call returns at once, you can continue, and the answer comes later as a message. ';

/** The tool `delegate`, for its descriptor: the workflow answers its calls. Its gate counts it as a read: sub-agents have gates themselves. */
function delegateTool(agents: readonly { readonly name: string; readonly description: string }[], mayNotWait: boolean): AnyToolDefinition {
  const list = agents.map(({ name, description }) => `- ${name}: ${description}`).join('\n');
  return defineTool({
    name: DELEGATE_TOOL,
    description:
      'Give a task to another agent and wait for its answer. It does not see this conversation: the task must say all that it needs to ' +
      `know, and what to answer. Several calls in one answer run at the same time. ${mayNotWait ? NO_WAIT : ''}Agents:\n${list}`,
    parameters: z.strictObject({
      agent: z.enum(agents.map(({ name }) => name)).describe('Name of the agent.'),
      task: z.string().min(1).max(SUBAGENT_LIMITS.taskCharsMax).describe('The task, complete in itself.'),
      ...(mayNotWait ? { wait: z.boolean().optional().describe('False: do not wait for the answer. Default: true.') } : {}),
    }),
    effect: 'read',
    network: false,
    execute: () => {
      throw new Error('the run starts its sub-agents itself');
    },
  });
}
