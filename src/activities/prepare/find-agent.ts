import { didYouMean } from '../../contracts/text/did-you-mean.js';
import type { AgentDefinition } from '../../define/define-agent.js';
import type { Config } from '../../define/define-config.js';
import { failure } from '../runtime/failures.js';

/** The agent of a run without an `agent`. */
export const DEFAULT_AGENT: AgentDefinition = {
  description: 'A careful general agent.',
  prompt:
    'You are a careful agent. Work on the task step by step with the tools you have, look before you change anything, check what ' +
    'you did, and end with a short plain answer that says what was done and what is still open.',
};

/** The name and the definition of the agent of a run. Throws `Input.UnknownAgent`. */
export function findAgent(agent: string | undefined, { agents = {} }: Config): [string, AgentDefinition] {
  if (agent === undefined) return ['default', agents['default'] ?? DEFAULT_AGENT];
  const found = Object.hasOwn(agents, agent) ? agents[agent] : agent === 'default' ? DEFAULT_AGENT : undefined;
  if (found) return [agent, found];
  const names = [...new Set(['default', ...Object.keys(agents)])];
  const shown = JSON.stringify(agent.slice(0, 80));
  throw failure('Input.UnknownAgent', `no agent named ${shown}${didYouMean(agent, names)}; available: ${names.join(', ')}`);
}
