import { parseModelRef } from '../../contracts/model.js';
import type { Config, ProviderDefinition } from '../../define/define-config.js';
import type { KeyRing } from '../key-ring.js';
import { KNOWN_PROVIDERS } from '../model-choice.js';
import { ModelError } from './model-error.js';
import type { ModelProvider } from './provider.js';

/** What providers are made from. */
export interface ProvidersOptions {
  readonly config: Pick<Config, 'providers' | 'credentials'>;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly keys: KeyRing;
}

/** A provider with the name its model has there. */
export interface ResolvedModel {
  readonly provider: ModelProvider;
  readonly model: string;
}

/** Makes the look-up from `provider/model` to a provider. Providers are made once each; a missing key is a `Model.Auth` that names its variable. */
export function createProviderFor(options: ProvidersOptions): (model: string) => ResolvedModel {
  const made = new Map<string, ModelProvider>();
  return (name) => {
    const ref = parseModelRef(name);
    if (!ref) throw new ModelError('Model.BadRequest', `model ${name}: use provider/model`);
    const key = ref.provider === 'scripted' ? name : ref.provider;
    const provider = made.get(key) ?? make(ref, options);
    made.set(key, provider);
    return { provider, model: ref.model };
  };
}

function make(ref: { provider: string; model: string }, options: ProvidersOptions): ModelProvider {
  if (ref.provider === 'scripted')
    return onFirstCall(async () => (await import('./scripted.js')).createScriptedProvider({ file: ref.model }));
  const { api, baseUrl, strictTerminal } = placeOf(ref.provider, options);
  const apiKey = keyOf(ref.provider, options);
  const settings = { baseUrl, apiKey, ...(strictTerminal === undefined ? {} : { strictTerminal }) };
  if (api === 'anthropic') return onFirstCall(async () => (await import('./anthropic.js')).createAnthropicProvider(settings));
  return onFirstCall(async () => (await import('./openai-chat.js')).createOpenAiChatProvider(settings));
}

/** Loads a provider's SDK with its first call: a worker starts sooner, and most runs use one of them. */
function onFirstCall(load: () => Promise<ModelProvider>): ModelProvider {
  let loaded: Promise<ModelProvider> | undefined;
  return {
    call: async (request) => {
      loaded ??= load();
      return (await loaded).call(request);
    },
  };
}

function placeOf(name: string, { config, env }: ProvidersOptions): { api: string; baseUrl: string; strictTerminal?: boolean } {
  const defined = config.providers?.[name];
  if (defined) {
    const { strictTerminal } = defined.quirks ?? {};
    return { api: defined.api, baseUrl: checkBaseUrl(name, defined), ...(strictTerminal === undefined ? {} : { strictTerminal }) };
  }
  const known = KNOWN_PROVIDERS[name];
  if (!known) throw new ModelError('Model.BadRequest', `unknown provider ${name}`);
  const fromEnv = known.baseUrlVariable ? env[known.baseUrlVariable] : undefined;
  return { api: known.api, baseUrl: fromEnv ? checkBaseUrl(name, { baseUrl: fromEnv }) : known.baseUrl };
}

function keyOf(name: string, { config, keys }: ProvidersOptions): string {
  const known = KNOWN_PROVIDERS[name];
  const defined = config.providers?.[name];
  const own = defined?.credentials ?? config.credentials?.[name] ?? known?.keyVariable;
  const references = own === undefined ? [] : [own].flat();
  if (references.length === 0) return 'none';
  const value = references.map((reference) => keys.resolve(reference)).find(Boolean) ?? (defined ? undefined : keys.resolve('LLM_API_KEY'));
  if (value) return value;
  const others = keys.names();
  const hint = others.length > 0 ? `; set are: ${others.join(', ')}` : '';
  throw new ModelError('Model.Auth', `no key for ${name}: set ${references.map((r) => r.replace(/^env:/u, '')).join(' or ')}${hint}`);
}

/** A usable address (faults B23): http(s), no credentials in it, and plain http only to this machine unless asked for. */
export function checkBaseUrl(name: string, { baseUrl, allowInsecure }: Pick<ProviderDefinition, 'baseUrl' | 'allowInsecure'>): string {
  const problem = baseUrlProblem(baseUrl, allowInsecure ?? false);
  if (problem) throw new ModelError('Model.BadRequest', `BAD_BASE_URL of ${name}: ${problem}`);
  return baseUrl;
}

/** What is wrong with a base URL; undefined when nothing is. */
export function baseUrlProblem(text: string, allowInsecure: boolean): string | undefined {
  if (!URL.canParse(text)) return 'not a URL; use https://host/path';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return `${url.protocol}// is not http or https`;
  if (url.username || url.password) return 'it holds credentials; give the key by reference instead';
  const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/u.test(url.hostname);
  if (url.protocol === 'http:' && !loopback && !allowInsecure)
    return 'plain http to another machine; use https, or allowInsecure: true in the config';
  return undefined;
}
