import { didYouMean } from '../../contracts/nearest-name.js';
import type { ProviderQuirks } from '../../define/provider-quirks.js';

/** A provider that people use by its bare name. */
export interface KnownProvider {
  readonly api: 'openai-chat' | 'openai-responses' | 'openai-completions' | 'anthropic' | 'scripted';
  readonly baseUrl: string;
  readonly baseUrlVariable?: string;
  readonly keyVariable?: string;
  /** What is asked when only the provider is known. */
  readonly defaultModel?: string;
  readonly quirks?: ProviderQuirks;
}

/** The providers that need no config. Their order is the order of detection. */
export const KNOWN_PROVIDERS: Readonly<Record<string, KnownProvider>> = {
  openai: {
    api: 'openai-chat',
    baseUrl: 'https://api.openai.com/v1',
    baseUrlVariable: 'OPENAI_BASE_URL',
    keyVariable: 'OPENAI_API_KEY',
    defaultModel: 'gpt-5-mini',
  },
  'openai-responses': {
    api: 'openai-responses',
    baseUrl: 'https://api.openai.com/v1',
    baseUrlVariable: 'OPENAI_BASE_URL',
    keyVariable: 'OPENAI_API_KEY',
  },
  anthropic: {
    api: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
    baseUrlVariable: 'ANTHROPIC_BASE_URL',
    keyVariable: 'ANTHROPIC_API_KEY',
    defaultModel: 'claude-sonnet-4-5',
  },
  ollama: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:11434/v1', baseUrlVariable: 'OLLAMA_BASE_URL', defaultModel: 'llama3' },
  scripted: { api: 'scripted', baseUrl: '' },
};

/** A provider by its name; undefined for any other name, also for those that every object has. */
export function knownProvider(name: string): KnownProvider | undefined {
  return Object.hasOwn(KNOWN_PROVIDERS, name) ? KNOWN_PROVIDERS[name] : undefined;
}

/** Why a name is no provider, with the nearest one; undefined when it is one. */
export function providerNameProblem(name: string, configured: readonly string[]): string | undefined {
  if (configured.includes(name) || knownProvider(name)) return undefined;
  const shown = JSON.stringify(name.slice(0, 80));
  const names = [...Object.keys(KNOWN_PROVIDERS), ...configured];
  return `unknown provider ${shown}${didYouMean(name, names)}; known: ${names.join(', ')}`;
}
