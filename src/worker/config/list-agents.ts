import { DEFAULT_AGENT } from '../../activities/prepare/find-agent.js';
import type { AgentDefinition } from '../../define/define-agent.js';
import type { LoadedConfig } from './load-config.js';

/** An agent of a config. */
export interface ListedAgent {
  readonly name: string;
  readonly description: string;
  /** The agent's own model. Absent: that of the run, the environment or the config. */
  readonly model?: string;
  /** The file that defines it, or `plugin NAME`; `built-in` for the agent of runs without one. */
  readonly definedIn: string;
}

/** Lists the agents of a config, sorted by name, with the one of runs that name none. */
export function listAgents({ config, file, agentFiles = {}, plugins = [] }: LoadedConfig): ListedAgent[] {
  const own = config.agents ?? {};
  const agents: Readonly<Record<string, AgentDefinition>> = {
    ...(Object.hasOwn(own, 'default') ? {} : { default: DEFAULT_AGENT }),
    ...own,
  };
  const ofPlugin = (name: string): string | undefined => {
    const plugin = plugins.find((each) => each.agents.includes(name));
    return plugin && `plugin ${plugin.name}`;
  };
  const ownFile = (name: string): string | undefined => (Object.hasOwn(agentFiles, name) ? agentFiles[name] : file);
  return Object.entries(agents)
    .map(([name, { description, model }]) => ({
      name,
      description,
      ...(model === undefined ? {} : { model }),
      definedIn: Object.hasOwn(own, name) ? (ofPlugin(name) ?? ownFile(name) ?? 'config') : 'built-in',
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
