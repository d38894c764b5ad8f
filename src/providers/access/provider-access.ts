import { didYouMean } from '../../contracts/text/did-you-mean.js';
import type { AgentDefinition } from '../../define/define-agent.js';
import type { HttpApi, HttpProvider } from '../../define/provider-definition.js';
import type { AccessOptions } from '../contract/access-options.js';
import type { ProviderSettings } from '../contract/provider.js';
import type { CustomDefinition, CustomFormat, Executor } from '../format/wire-format.js';
import { baseUrlProblem } from '../http/base-url.js';
import { customFormat, EXECUTOR_KINDS, isHttpProvider } from '../registry.js';
import { definitionOf, keyedProvidersText, keyReferences } from './key-references.js';
import { knownProvider, providerNameProblem } from './known-providers.js';

/** An HTTP server of a known wire format, and the references of its keys that have values, in order of use. */
export interface ServerAccess extends ProviderSettings {
  readonly kind: 'server';
  readonly api: HttpApi;
  /** Empty where none is needed. */
  readonly credentials: readonly string[];
}

/** How a provider is reached; or why it cannot be. */
export type ProviderAccess =
  | ServerAccess
  | { readonly kind: 'custom'; readonly format: CustomFormat; readonly definition: CustomDefinition }
  | { readonly kind: 'executor'; readonly executor: Executor }
  | { readonly kind: 'script' }
  | Refused;

interface Refused {
  readonly kind: 'refused';
  readonly type: 'Model.Auth' | 'Model.BadRequest' | 'Model.NotFound';
  readonly problem: string;
}

/** A model of a provider, with one of its keys. */
export interface AccessRequest {
  readonly provider: string;
  readonly model: string;
  /** The reference of the key to use; absent: the first that has a value. */
  readonly credential?: string | undefined;
}

/** SDKs refuse an empty key, also for servers that want none. */
const NO_KEY = 'none';

/** For any provider that has no key of its own and that no config defines. */
const GENERAL_KEY = 'env:LLM_API_KEY';

/**
 * How a provider is reached: the config's own definition, else the known one with the address and key of the environment.
 * Never throws; what is refused names the variable to set and the keys that are there, never a value.
 */
export function providerAccess({ provider, model, credential }: AccessRequest, options: AccessOptions): ProviderAccess {
  const executor = executorOf(provider, model, options.config.agents);
  if (executor) return 'problem' in executor ? refused('Model.BadRequest', executor.problem) : { kind: 'executor', ...executor };
  const unknown = providerNameProblem(provider, Object.keys(options.config.providers ?? {}));
  if (unknown) return refused('Model.NotFound', unknown);
  const defined = definitionOf(provider, options.config);
  if (defined === undefined || isHttpProvider(defined)) return serverAccess({ provider, defined, credential }, options);
  const format = customFormat(defined);
  // its keys are used together: each one that it names must have a value
  const missing = (format.keyReferences(defined) ?? []).filter((reference) => options.keys.resolve(reference) === undefined);
  return missing.length > 0 ? noKey(provider, missing, options) : { kind: 'custom', format, definition: defined };
}

interface ServerRequest {
  readonly provider: string;
  readonly defined: HttpProvider | undefined;
  readonly credential: string | undefined;
}

function serverAccess({ provider, defined, credential }: ServerRequest, options: AccessOptions): ProviderAccess {
  const place = defined ? configuredPlace(provider, defined) : knownPlace(provider, options);
  if (place.kind !== 'place') return place;
  const key = keyOf({ provider, defined, credential }, options);
  return 'problem' in key ? key : { ...place, kind: 'server', ...key };
}

interface Place extends Omit<ProviderSettings, 'apiKey'> {
  readonly kind: 'place';
  readonly api: HttpApi;
}

function configuredPlace(name: string, { api, baseUrl, allowInsecure, preset, quirks }: HttpProvider): Place | Refused {
  const problem = baseUrlProblem(baseUrl, { allowInsecure });
  if (problem) return refused('Model.NotFound', `BAD_BASE_URL of ${name}: ${problem}`);
  return { kind: 'place', api, baseUrl, quirks: { ...(preset === undefined ? {} : knownProvider(preset)?.quirks), ...quirks } };
}

function knownPlace(name: string, { env }: AccessOptions): Place | Exclude<ProviderAccess, ServerAccess> {
  const known = knownProvider(name);
  if (!known || known.api === 'scripted') return { kind: 'script' };
  const { api, baseUrl, baseUrlVariable, path, quirks = {} } = known;
  const fromEnv = baseUrlVariable && env[baseUrlVariable]?.trim();
  if (!fromEnv && baseUrl === '')
    return refused('Model.NotFound', `no address for ${name}. Set ${baseUrlVariable}, or baseUrl in the config.`);
  if (!fromEnv) return { kind: 'place', api, baseUrl, quirks };
  const problem = baseUrlProblem(fromEnv);
  if (problem) return refused('Model.NotFound', `BAD_BASE_URL in ${baseUrlVariable}: ${problem}`);
  return { kind: 'place', api, baseUrl: path === undefined ? fromEnv : withPath(fromEnv, path), quirks };
}

/** Local servers and Azure are mostly named by their host; their compatible interface is below a path of its own. */
function withPath(address: string, path: string): string {
  return new URL(address).pathname === '/' ? new URL(path, address).href : address;
}

type Key = Pick<ServerAccess, 'apiKey' | 'credentials'>;

/** The references that have a value; LLM_API_KEY stands in for the key of a provider that no config defines. */
function keyOf({ provider, defined, credential }: ServerRequest, options: AccessOptions): Key | Refused {
  const { keys } = options;
  const references = keyReferences(provider, options);
  if (references.length === 0) return { apiKey: NO_KEY, credentials: [] };
  const withValue = (reference: string): boolean => keys.resolve(reference) !== undefined;
  const usable = references.filter(withValue);
  const there = usable.length > 0 || defined ? usable : [GENERAL_KEY].filter(withValue);
  // a key that was taken away since the run began is no reason to take another one in silence
  const chosen = credential === undefined ? there[0] : there.find((reference) => reference === credential);
  const apiKey = chosen && keys.resolve(chosen);
  return apiKey ? { apiKey, credentials: there } : noKey(provider, credential === undefined ? references : [credential], options);
}

/** Says which key is missing, and who has one. */
function noKey(provider: string, references: readonly string[], options: AccessOptions): Refused {
  const problems = references.map((reference) => options.keys.problem(reference) ?? `${reference} is not listed`);
  const others = keyedProvidersText(options);
  return refused('Model.Auth', `no key for ${provider}: ${problems.join(', ')}${others === '' ? '' : `; configured keys: ${others}`}`);
}

function refused(type: Refused['type'], problem: string): Refused {
  return { kind: 'refused', type, problem };
}

/** The executor that a model's name means: `subprocess/AGENT` and `stub/AGENT`; or why there is none. Undefined for models of providers. */
function executorOf(
  provider: string,
  agent: string,
  agents: Readonly<Record<string, AgentDefinition>> = {},
): { readonly executor: Executor } | { readonly problem: string } | undefined {
  if (!EXECUTOR_KINDS.has(provider)) return undefined;
  const executor = Object.hasOwn(agents, agent) ? agents[agent]?.executor : undefined;
  if (executor && executor.kind !== 'llm' && executor.kind === provider) return { executor };
  const names = Object.entries(agents).flatMap(([name, { executor: own }]) => (own?.kind === provider ? [name] : []));
  return { problem: `no agent ${JSON.stringify(agent.slice(0, 80))} with a ${provider} executor${didYouMean(agent, names)}` };
}
