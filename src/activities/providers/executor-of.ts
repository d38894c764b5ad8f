import { didYouMean } from '../../contracts/text/did-you-mean.js';
import type { StubExecutor, SubprocessExecutor } from '../../define/agent-executor.js';
import type { AgentDefinition } from '../../define/define-agent.js';

const EXECUTORS: ReadonlySet<string> = new Set(['subprocess', 'stub']);

/** The executor that a model's name means: `subprocess/AGENT` and `stub/AGENT`; or why there is none. Undefined for models of providers. */
export function executorOf(
  provider: string,
  agent: string,
  agents: Readonly<Record<string, AgentDefinition>> = {},
): { readonly executor: SubprocessExecutor | StubExecutor } | { readonly problem: string } | undefined {
  if (!EXECUTORS.has(provider)) return undefined;
  const executor = Object.hasOwn(agents, agent) ? agents[agent]?.executor : undefined;
  if (executor && executor.kind !== 'llm' && executor.kind === provider) return { executor };
  const names = Object.entries(agents).flatMap(([name, { executor: own }]) => (own?.kind === provider ? [name] : []));
  return { problem: `no agent ${JSON.stringify(agent.slice(0, 80))} with a ${provider} executor${didYouMean(agent, names)}` };
}
