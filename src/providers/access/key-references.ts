import { FAILOVER_LIMITS } from '../../contracts/constants/limits.js';
import type { AgentDefinition } from '../../define/define-agent.js';
import type { Config } from '../../define/define-config.js';
import type { ProviderDefinition } from '../../define/provider-definition.js';
import { type Credentials, KeyReference } from '../../define/worker/credentials.js';
import type { McpServer } from '../../define/worker/mcp-servers.js';
import type { AccessOptions } from '../contract/access-options.js';
import { customFormat, isHttpProvider } from '../registry.js';
import { KNOWN_PROVIDERS, knownProvider } from './known-providers.js';

/** A provider with the references of its own keys that have a value. */
interface KeyedProvider {
  readonly provider: string;
  readonly credentials: readonly string[];
}

/**
 * The references of a provider's keys in their order of use: those its definition lists, else those of the config's `credentials`, else its
 * variable and the numbered ones behind it, `OPENAI_API_KEY_2` and so on. Empty: it needs none. They may have no value.
 */
export function keyReferences(provider: string, { config, keys }: Pick<AccessOptions, 'config' | 'keys'>): readonly string[] {
  const listed = ownReferences(definitionOf(provider, config)) ?? listedFor(provider, config);
  if (listed) return listed;
  const variable = knownProvider(provider)?.keyVariable;
  if (variable === undefined) return [];
  const numbers = keys.names().flatMap((name) => numberBehind(name, variable) ?? []);
  const numbered = numbers.toSorted((a, b) => a - b).map((number) => `env:${variable}_${number}`);
  return [`env:${variable}`, ...numbered].slice(0, FAILOVER_LIMITS.credentialsMax);
}

/** All providers with a key of their own: the config's in its order, then the known ones in theirs. */
function providersWithKeys(options: Pick<AccessOptions, 'config' | 'keys'>): readonly KeyedProvider[] {
  const names = new Set([...Object.keys(options.config.providers ?? {}), ...Object.keys(KNOWN_PROVIDERS)]);
  return [...names].flatMap((provider) => {
    const credentials = keyReferences(provider, options).filter((reference) => options.keys.resolve(reference) !== undefined);
    return credentials.length > 0 ? [{ provider, credentials }] : [];
  });
}

/** `openai (OPENAI_API_KEY, OPENAI_API_KEY_2), mine (file:/run/secrets/mine)`; empty when nobody has a key. */
export function keyedProvidersText(options: Pick<AccessOptions, 'config' | 'keys'>): string {
  const texts = providersWithKeys(options).map(({ provider, credentials }) => {
    return `${provider} (${credentials.map((reference) => reference.replace(/^env:/u, '')).join(', ')})`;
  });
  return texts.join(', ');
}

/** The config's own definition of a provider. */
export function definitionOf(provider: string, { providers = {} }: AccessOptions['config']): ProviderDefinition | undefined {
  return Object.hasOwn(providers, provider) ? providers[provider] : undefined;
}

/** The references that a definition names itself; undefined where it leaves them to `credentials` of the config. */
export function ownReferences(defined: ProviderDefinition | undefined): readonly string[] | undefined {
  if (defined === undefined) return undefined;
  return isHttpProvider(defined) ? listOf(defined.credentials) : customFormat(defined).keyReferences(defined);
}

function listOf(credentials: Credentials | undefined): readonly string[] | undefined {
  return credentials === undefined ? undefined : [credentials].flat();
}

function listedFor(provider: string, { credentials = {} }: AccessOptions['config']): readonly string[] | undefined {
  return Object.hasOwn(credentials, provider) ? listOf(credentials[provider]) : undefined;
}

function numberBehind(name: string, variable: string): number | undefined {
  const number = name.startsWith(`${variable}_`) ? name.slice(variable.length + 1) : '';
  return /^[1-9]\d{0,2}$/u.test(number) ? Number(number) : undefined;
}

/** The references of all keys that a config names: variables and files. */
export function keysOfConfig(config: Config): string[] {
  const { credentials = {}, providers = {}, agents = {}, artifacts, streams, mcpServers = {}, channels = {} } = config;
  return [
    ...Object.values(credentials).flat(),
    ...Object.values(providers).flatMap((provider) => ownReferences(provider) ?? []),
    ...Object.values(agents).flatMap(keysOfExecutor),
    ...Object.values(mcpServers).flatMap(keysOfMcpServer),
    ...Object.values((artifacts && 'bucket' in artifacts && artifacts.credentials) || {}),
    ...(streams && KeyReference.safeParse(streams.url).success ? [streams.url] : []),
    ...Object.values(channels).flatMap(({ signingSecret, botToken }) => [signingSecret, botToken]),
  ];
}

/** A child process is given the keys that its definition names, and no other. */
function keysOfExecutor({ executor }: AgentDefinition): string[] {
  if (!executor || !('env' in executor)) return [];
  return Object.values(executor.env ?? {}).filter((value) => KeyReference.safeParse(value).success);
}

function keysOfMcpServer(server: McpServer): string[] {
  const values = 'url' in server ? [...Object.values(server.headers ?? {}), server.token ?? ''] : Object.values(server.env ?? {});
  return values.filter((value) => KeyReference.safeParse(value).success);
}
