import type { Config } from '../../define/define-config.js';
import type { KeyRing } from '../key-ring.js';
import { baseUrlProblem } from './base-url.js';
import { knownProvider, providerNameProblem } from './known-providers.js';

/** What an access is found out from. */
export interface AccessOptions {
  readonly config: Pick<Config, 'providers' | 'credentials'>;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly keys: KeyRing;
}

/** How a provider is reached: a script needs nothing, a server an address and a key; or why it cannot be. */
export type ProviderAccess =
  | { readonly kind: 'script' }
  | {
      readonly kind: 'server';
      readonly api: 'openai-chat' | 'anthropic';
      readonly baseUrl: string;
      readonly apiKey: string;
      readonly strictTerminal?: boolean;
    }
  | { readonly kind: 'refused'; readonly type: 'Model.Auth' | 'Model.BadRequest'; readonly problem: string };

type Server = Extract<ProviderAccess, { kind: 'server' }>;
type Refused = Extract<ProviderAccess, { kind: 'refused' }>;

/** SDKs refuse an empty key, also for servers that want none. */
const NO_KEY = 'none';

/**
 * How a provider is reached: the config's own definition, else the known one with the address and key of the environment.
 * Never throws; what is refused names the variable to set and the keys that are there, never a value.
 */
export function providerAccess(name: string, options: AccessOptions): ProviderAccess {
  const { providers = {} } = options.config;
  const unknown = providerNameProblem(name, Object.keys(providers));
  if (unknown) return refused('Model.BadRequest', unknown);
  const place = Object.hasOwn(providers, name) ? configuredPlace(name, options) : knownPlace(name, options);
  if (place.kind !== 'server') return place;
  const key = keyOf(name, options);
  return typeof key === 'string' ? { ...place, apiKey: key } : key;
}

function configuredPlace(name: string, { config }: AccessOptions): Omit<Server, 'apiKey'> | Refused {
  const defined = config.providers?.[name];
  if (!defined) return refused('Model.BadRequest', `provider ${name} is not defined`);
  const { api, baseUrl, allowInsecure, quirks: { strictTerminal } = {} } = defined;
  const problem = baseUrlProblem(baseUrl, { allowInsecure });
  if (problem) return refused('Model.BadRequest', `BAD_BASE_URL of ${name}: ${problem}`);
  return { kind: 'server', api, baseUrl, ...(strictTerminal === undefined ? {} : { strictTerminal }) };
}

function knownPlace(name: string, { env }: AccessOptions): Omit<Server, 'apiKey'> | Exclude<ProviderAccess, Server> {
  const known = knownProvider(name);
  if (!known || known.api === 'scripted') return { kind: 'script' };
  const fromEnv = known.baseUrlVariable && env[known.baseUrlVariable]?.trim();
  if (!fromEnv) return { kind: 'server', api: known.api, baseUrl: known.baseUrl };
  const problem = baseUrlProblem(fromEnv);
  if (problem) return refused('Model.BadRequest', `BAD_BASE_URL in ${known.baseUrlVariable}: ${problem}`);
  return { kind: 'server', api: known.api, baseUrl: name === 'ollama' ? ollamaUrl(fromEnv) : fromEnv };
}

/** Ollama is mostly named by host and port; its compatible interface is below /v1. */
function ollamaUrl(text: string): string {
  return new URL(text).pathname === '/' ? new URL('/v1', text).href : text;
}

/** The first reference that gives a value; LLM_API_KEY stands in for the key of a provider that no config defines. */
function keyOf(name: string, { config, keys }: AccessOptions): string | Refused {
  const defined = config.providers?.[name];
  const references = [defined?.credentials ?? config.credentials?.[name] ?? knownProvider(name)?.keyVariable ?? []].flat();
  if (references.length === 0) return NO_KEY;
  const value = references.map((reference) => keys.resolve(reference)).find(Boolean) ?? (defined ? undefined : keys.resolve('LLM_API_KEY'));
  if (value) return value;
  const problems = references.map((reference) => keys.problem(reference)).join(', ');
  const there = keys.names();
  return refused('Model.Auth', `no key for ${name}: ${problems}${there.length > 0 ? ` (keys found: ${there.join(', ')})` : ''}`);
}

function refused(type: Refused['type'], problem: string): Refused {
  return { kind: 'refused', type, problem };
}
