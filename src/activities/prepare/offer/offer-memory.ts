import { offersTool } from '../../../contracts/access/gate-profile.js';
import type { RunPolicy } from '../../../contracts/schemas/policy.js';
import type { RunInput } from '../../../contracts/schemas/run.js';
import type { AgentDefinition } from '../../../define/define-agent.js';
import type { Config } from '../../../define/define-config.js';
import type { AnyToolDefinition } from '../../../define/define-tool.js';

/** The memory of a run. */
export interface MemoryOffer {
  readonly tools: readonly AnyToolDefinition[];
  /** True if the notes are in the workspace. */
  readonly workspace: boolean;
  /** The section of the prompt; empty without tools. */
  readonly prompt: string;
}

/**
 * The tools of the memory that a run is offered: if the config has a memory and the agent lists no tools, or if the agent lists them. A run
 * without the workspace that has the notes is offered none.
 */
export function offerMemory(
  { context }: RunInput,
  { agent, policy }: { readonly agent: AgentDefinition; readonly policy: RunPolicy },
  { config, memoryTools = [] }: { readonly config: Config; readonly memoryTools?: readonly AnyToolDefinition[] },
): MemoryOffer {
  const workspace = (config.memory?.scope ?? 'workspace') === 'workspace';
  const { tools: listed = [], blockedTools = [] } = agent;
  const isOffered = ({ name }: AnyToolDefinition): boolean =>
    (listed.length === 0 ? config.memory !== undefined : listed.includes(name)) && !blockedTools.includes(name);
  const mayUse = !workspace || context?.workspace !== undefined;
  const tools = mayUse ? memoryTools.filter((tool) => isOffered(tool) && offersTool(policy.gate, tool)) : [];
  return { tools, workspace, prompt: promptOf(tools.map(({ name }) => name)) };
}

function promptOf(names: readonly string[]): string {
  if (names.length === 0) return '';
  const lines = [
    ...(names.includes('recall')
      ? ['Search the notes of earlier runs with recall before you ask for, or guess, what they may contain.']
      : []),
    ...(names.includes('remember') ? ['Keep facts and decisions that later runs need with remember.'] : []),
  ];
  return `# Memory\n\n${lines.join('\n')}`;
}
