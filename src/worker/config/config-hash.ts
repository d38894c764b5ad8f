import { createHash } from 'node:crypto';
import type { Config } from '../../define/define-config.js';
import { type AnyToolDefinition, parametersSchema } from '../../define/define-tool.js';
import type { ProviderDefinition } from '../../define/provider-definition.js';
import { KNOWN_PROVIDERS } from '../../providers/access/known-providers.js';
import type { KeyRing } from '../../providers/contract/access-options.js';

/** 64 bits distinguish configurations and do not reveal a key. */
const HASH_CHARS = 16;

/** Environment variables that select a model or an address. */
const CHOOSING_VARIABLES = [
  'PERDURE_MODEL',
  'PERDURE_MODEL_PROVIDER',
  'PERDURE_FALLBACKS',
  ...Object.values(KNOWN_PROVIDERS).flatMap(({ baseUrlVariable }) => baseUrlVariable ?? []),
];

/** Hashes everything that runs of a worker depend on: the configuration with the code of its tools, the keys, and CHOOSING_VARIABLES. */
export function configHash({
  config,
  keys,
  env,
}: {
  readonly config: Config;
  readonly keys: KeyRing;
  readonly env: Readonly<NodeJS.ProcessEnv>;
}): string {
  const tools = (config.tools ?? []).map((tool) => ({
    // picks fields, because a tool object may hold other values that JSON cannot represent
    ...pick(tool, ['name', 'description', 'effect', 'timeoutMs', 'pure', 'network', 'approval', 'execute', 'reconcile']),
    parameters: parametersSchema(tool),
  }));
  const parts = {
    config: { ...config, tools, providers: Object.entries(config.providers ?? {}).map(hashedProvider) },
    keys: [...keys.names()].toSorted().map((name) => [name, sha256(keys.resolve(name) ?? '')]),
    env: CHOOSING_VARIABLES.map((name) => [name, env[name] ?? '']),
  };
  return sha256(JSON.stringify(parts, functionAsSource)).slice(0, HASH_CHARS);
}

/** Of a wire format, an object of any content, only the code that creates its provider. */
function hashedProvider([name, provider]: readonly [string, ProviderDefinition]): unknown {
  if (provider.api !== 'custom') return [name, provider];
  const { format, ...rest } = provider;
  return [name, { ...rest, format: { name: format.name, create: format.create } }];
}

function pick(tool: AnyToolDefinition, fields: readonly (keyof AnyToolDefinition)[]): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field, tool[field]]));
}

function functionAsSource(_key: string, value: unknown): unknown {
  return typeof value === 'function' ? String(value) : value;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
