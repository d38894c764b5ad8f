import { z } from 'zod';
import { HANDOFF_LEVEL } from '../../contracts/capability-level.js';
import { HANDOFF_LIMITS } from '../../contracts/constants/limits.js';
import type { PreparedHandoffs } from '../../contracts/schemas/prepared-run.js';
import { HANDOFF_TOOL } from '../../contracts/text/ids.js';
import type { AgentDefinition } from '../../define/define-agent.js';
import { type AnyToolDefinition, defineTool } from '../../define/define-tool.js';
import type { DelegationFacts } from './delegation.js';

/** The agents that a run may be handed to, and the tool for it; undefined for an agent without any. */
export function handoffsOf(
  { handoffs = [] }: AgentDefinition,
  { config: { agents = {} }, level, signs }: DelegationFacts,
): { readonly handoffs: PreparedHandoffs; readonly tool: AnyToolDefinition } | undefined {
  const found = handoffs.flatMap((name) => (Object.hasOwn(agents, name) ? [{ name, description: agents[name]?.description ?? '' }] : []));
  if (found.length === 0 || level === undefined || level < HANDOFF_LEVEL) return undefined;
  return { handoffs: { agents: found.map(({ name }) => name), ...(signs ? { signs: true } : {}) }, tool: handoffTool(found) };
}

/** The tool `handoff`, for its descriptor: the workflow answers its calls. */
function handoffTool(agents: readonly { readonly name: string; readonly description: string }[]): AnyToolDefinition {
  const list = agents.map(({ name, description }) => `- ${name}: ${description}`).join('\n');
  return defineTool({
    name: HANDOFF_TOOL,
    description:
      'Hand this conversation over to another agent, which continues it from the next turn on and sees all of it. You do not continue.  ' +
      `Call it once, when that agent should do the rest of the work. Agents:\n${list}`,
    parameters: z.strictObject({
      agent: z.enum(agents.map(({ name }) => name)).describe('Name of the agent.'),
      note: z
        .string()
        .max(HANDOFF_LIMITS.noteCharsMax)
        .optional()
        .describe('What the agent should do first, if the conversation does not say it.'),
    }),
    effect: 'read',
    network: false,
    execute: () => {
      throw new Error('the run hands itself over');
    },
  });
}
