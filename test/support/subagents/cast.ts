import type { AgentDefinition } from '../../../src/define/define-agent.js';
import type { Config } from '../../../src/define/define-config.js';
import type { ModelAnswer, ModelRequest } from '../../../src/providers/contract/provider.js';
import { say } from '../agent-worker.js';

/** Answers of one agent: a function of its requests, which are counted from 1. */
export type Part = (request: ModelRequest, n: number) => ModelAnswer | Promise<ModelAnswer>;

/** The agents of a test, by name. The prompt of each begins with its name. */
export function castConfig(agents: Readonly<Record<string, Partial<AgentDefinition>>>, more: Partial<Config> = {}): Config {
  return {
    model: 'fake/model',
    providers: { fake: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:9' } },
    agents: Object.fromEntries(
      Object.entries(agents).map(([name, agent]) => [name, { description: `The ${name}.`, prompt: name, ...agent }]),
    ),
    ...more,
  };
}

/** A model with a part for each agent. */
export function cast(parts: Readonly<Record<string, Part>>): (request: ModelRequest) => ModelAnswer | Promise<ModelAnswer> {
  const counts = new Map<string, number>();
  return (request) => {
    const name = agentOf(request);
    const n = (counts.get(name) ?? 0) + 1;
    counts.set(name, n);
    return parts[name]?.(request, n) ?? say(`no part for ${name}`);
  };
}

/** The agent of a request. */
export function agentOf({ prompt }: Pick<ModelRequest, 'prompt'>): string {
  return prompt.split('\n')[0] ?? '';
}

/** The texts of all tool results of a request. */
export function resultTexts({ messages }: Pick<ModelRequest, 'messages'>): string[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool_result' ? part.parts.map((text) => ('text' in text ? text.text : '')) : [])),
  );
}

/** A call that delegates a task. */
export function delegate(agent: string, task: string, options: { readonly wait?: boolean } = {}) {
  return ['delegate', { agent, task, ...options }] as const;
}
