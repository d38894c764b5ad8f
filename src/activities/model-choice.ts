import { parseModelRef } from '../contracts/model.js';
import type { Config } from '../define/define-config.js';
import type { KeyRing } from './key-ring.js';

/** What a provider needs that people use by its bare name. */
interface KnownProvider {
  readonly api: 'openai-chat' | 'anthropic' | 'scripted';
  readonly baseUrl: string;
  readonly baseUrlVariable?: string;
  readonly keyVariable?: string;
  readonly defaultModel?: string;
}

/** The providers that need no config. Their order is the order of detection (D-17). */
export const KNOWN_PROVIDERS: Readonly<Record<string, KnownProvider>> = {
  anthropic: {
    api: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
    baseUrlVariable: 'ANTHROPIC_BASE_URL',
    keyVariable: 'ANTHROPIC_API_KEY',
    defaultModel: 'claude-sonnet-4-5',
  },
  openai: {
    api: 'openai-chat',
    baseUrl: 'https://api.openai.com/v1',
    baseUrlVariable: 'OPENAI_BASE_URL',
    keyVariable: 'OPENAI_API_KEY',
    defaultModel: 'gpt-5-mini',
  },
  ollama: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:11434/v1', baseUrlVariable: 'OLLAMA_BASE_URL', defaultModel: 'llama3' },
  scripted: { api: 'scripted', baseUrl: '' },
};

/** What the choice is made from. */
export interface ModelChoice {
  readonly requested: string | undefined;
  readonly agentModel: string | undefined;
  readonly config: Pick<Config, 'model' | 'providers'>;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly keys: KeyRing;
}

/** The chosen model as `provider/model`, or why there is none. */
export type ChosenModel = { readonly model: string } | { readonly problem: string };

/** Chooses: the request's model, the agent's, the environment's, the config's, or one whose key is there. */
export function chooseModel(choice: ModelChoice): ChosenModel {
  const wanted = choice.requested ?? choice.agentModel ?? fromEnvironment(choice.env) ?? choice.config.model ?? detected(choice);
  if (wanted === undefined) return { problem: noModel(choice) };
  const ref = parseModelRef(wanted);
  if (!ref) return { problem: `model ${JSON.stringify(wanted.slice(0, 80))}: use provider/model, for example anthropic/claude-sonnet-4-5` };
  if (choice.config.providers?.[ref.provider] || KNOWN_PROVIDERS[ref.provider]) return { model: wanted };
  const names = [...Object.keys(KNOWN_PROVIDERS), ...Object.keys(choice.config.providers ?? {})];
  return { problem: `unknown provider ${JSON.stringify(ref.provider.slice(0, 80))}; known: ${names.join(', ')}` };
}

function fromEnvironment({ PERDURE_MODEL: model, PERDURE_MODEL_PROVIDER: provider }: Readonly<NodeJS.ProcessEnv>): string | undefined {
  if (model) return provider && !model.includes('/') ? `${provider}/${model}` : model;
  const known = provider ? KNOWN_PROVIDERS[provider]?.defaultModel : undefined;
  return known && `${provider}/${known}`;
}

/** The first provider whose key (or, for Ollama, whose address) is set. LLM_API_KEY alone names no provider. */
function detected({ env, keys }: ModelChoice): string | undefined {
  for (const [name, provider] of Object.entries(KNOWN_PROVIDERS)) {
    const there = provider.keyVariable ? keys.resolve(provider.keyVariable) : provider.baseUrlVariable && env[provider.baseUrlVariable];
    if (there && provider.defaultModel) return `${name}/${provider.defaultModel}`;
  }
  return undefined;
}

function noModel({ keys }: ModelChoice): string {
  const set = keys.names();
  const found = set.length > 0 ? ` (keys found: ${set.join(', ')})` : '';
  return `no model: give --model provider/model, or set OPENAI_API_KEY or ANTHROPIC_API_KEY${found}; --model scripted/FILE needs no key`;
}
