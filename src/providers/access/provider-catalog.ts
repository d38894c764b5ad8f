import type { HttpApi } from '../../define/provider-definition.js';
import type { ProviderQuirks } from '../../define/provider-quirks.js';

/** A provider that people use by its bare name. */
export interface KnownProvider {
  readonly api: HttpApi | 'scripted';
  /** Empty where everybody has an address of their own: `baseUrlVariable` or the config names it. */
  readonly baseUrl: string;
  readonly baseUrlVariable?: string;
  /** Put behind an address of the environment that names a host only. */
  readonly path?: string;
  /** Absent: it needs no key. */
  readonly keyVariable?: string;
  /** What is asked when only the provider is known; absent where everybody's models have names of their own. */
  readonly defaultModel?: string;
  /** It runs on machines of one's own, so that its tokens cost nothing. */
  readonly local?: boolean;
  readonly quirks?: ProviderQuirks;
}

/**
 * The providers that need no config. The first three are looked for first, because most people mean them; the others follow in a fixed
 * order, so that the same keys always choose the same model.
 */
export const KNOWN_PROVIDERS: Readonly<Record<string, KnownProvider>> = {
  openai: {
    api: 'openai-chat',
    baseUrl: 'https://api.openai.com/v1',
    baseUrlVariable: 'OPENAI_BASE_URL',
    keyVariable: 'OPENAI_API_KEY',
    defaultModel: 'gpt-5.4-mini',
  },
  anthropic: {
    api: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
    baseUrlVariable: 'ANTHROPIC_BASE_URL',
    keyVariable: 'ANTHROPIC_API_KEY',
    defaultModel: 'claude-sonnet-5',
  },
  gemini: {
    api: 'openai-chat',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    baseUrlVariable: 'GEMINI_BASE_URL',
    keyVariable: 'GEMINI_API_KEY',
    defaultModel: 'gemini-3.8-flash',
    quirks: { schemaDialect: 'gemini', thoughtSignatures: true },
  },
  'openai-responses': {
    api: 'openai-responses',
    baseUrl: 'https://api.openai.com/v1',
    baseUrlVariable: 'OPENAI_BASE_URL',
    keyVariable: 'OPENAI_API_KEY',
    defaultModel: 'gpt-5.4-mini',
  },
  mistral: {
    api: 'openai-chat',
    baseUrl: 'https://api.mistral.ai/v1',
    baseUrlVariable: 'MISTRAL_BASE_URL',
    keyVariable: 'MISTRAL_API_KEY',
    defaultModel: 'mistral-medium-latest',
    quirks: { callIdChars: 9, mergesRoles: true, streamUsage: false },
  },
  deepseek: {
    api: 'openai-chat',
    baseUrl: 'https://api.deepseek.com/v1',
    baseUrlVariable: 'DEEPSEEK_BASE_URL',
    keyVariable: 'DEEPSEEK_API_KEY',
    defaultModel: 'deepseek-v4-flash',
    quirks: { thinkingField: 'thinking', thinkingBack: 'reasoning_content' },
  },
  xai: {
    api: 'openai-chat',
    baseUrl: 'https://api.x.ai/v1',
    baseUrlVariable: 'XAI_BASE_URL',
    keyVariable: 'XAI_API_KEY',
    defaultModel: 'grok-4.7',
  },
  groq: {
    api: 'openai-chat',
    baseUrl: 'https://api.groq.com/openai/v1',
    baseUrlVariable: 'GROQ_BASE_URL',
    keyVariable: 'GROQ_API_KEY',
    defaultModel: 'openai/gpt-oss-120b',
  },
  together: {
    api: 'openai-chat',
    baseUrl: 'https://api.together.ai/v1',
    baseUrlVariable: 'TOGETHER_BASE_URL',
    keyVariable: 'TOGETHER_API_KEY',
    defaultModel: 'openai/gpt-oss-120b',
  },
  openrouter: {
    api: 'openai-chat',
    baseUrl: 'https://openrouter.ai/api/v1',
    baseUrlVariable: 'OPENROUTER_BASE_URL',
    keyVariable: 'OPENROUTER_API_KEY',
    defaultModel: 'openai/gpt-5.4-mini',
    quirks: { thinkingField: 'reasoning', reasoningDetails: true, files: true },
  },
  azure: {
    api: 'openai-chat',
    baseUrl: '',
    baseUrlVariable: 'AZURE_OPENAI_ENDPOINT',
    path: '/openai/v1',
    keyVariable: 'AZURE_OPENAI_API_KEY',
    quirks: { keyHeader: 'api-key', outputLimitField: 'max_completion_tokens', promptCacheKey: true },
  },
  ollama: {
    api: 'openai-chat',
    baseUrl: 'http://127.0.0.1:11434/v1',
    baseUrlVariable: 'OLLAMA_BASE_URL',
    path: '/v1',
    defaultModel: 'llama3',
    local: true,
    quirks: { thinkTag: 'think' },
  },
  llamacpp: {
    api: 'openai-chat',
    baseUrl: 'http://127.0.0.1:8080/v1',
    baseUrlVariable: 'LLAMACPP_BASE_URL',
    path: '/v1',
    // its server has one model, whatever it is asked for
    defaultModel: 'default',
    local: true,
    quirks: { thinkTag: 'think', thinkingField: 'enable_thinking' },
  },
  lmstudio: {
    api: 'openai-chat',
    baseUrl: 'http://127.0.0.1:1234/v1',
    baseUrlVariable: 'LMSTUDIO_BASE_URL',
    path: '/v1',
    local: true,
    quirks: { thinkTag: 'think', emptyContent: true },
  },
  vllm: {
    api: 'openai-chat',
    baseUrl: 'http://127.0.0.1:8000/v1',
    baseUrlVariable: 'VLLM_BASE_URL',
    path: '/v1',
    local: true,
    quirks: { thinkTag: 'think', thinkingField: 'enable_thinking' },
  },
  scripted: { api: 'scripted', baseUrl: '', local: true },
};
