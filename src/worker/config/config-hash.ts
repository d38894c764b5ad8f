import { createHash } from 'node:crypto';
import type { Config } from '../../define/define-config.js';
import { type AnyToolDefinition, parametersSchema } from '../../define/define-tool.js';
import { KNOWN_PROVIDERS } from '../../providers/access/known-providers.js';
import type { KeyRing } from '../../providers/contract/access-options.js';

/** 64 bits tell configurations apart, and a key cannot be got back from them. */
const HASH_CHARS = 16;

/** Variables that choose a model or an address where nothing else does. */
const CHOOSING_VARIABLES = [
  'PERDURE_MODEL',
  'PERDURE_MODEL_PROVIDER',
  'PERDURE_FALLBACKS',
  ...Object.values(KNOWN_PROVIDERS).flatMap(({ baseUrlVariable }) => baseUrlVariable ?? []),
];

/** A fingerprint of all that a worker's runs depend on: the configuration with its tools' code, the keys, what the environment chooses. */
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
    // field by field: a tool may carry anything else, also what JSON cannot hold
    ...pick(tool, ['name', 'description', 'effect', 'timeoutMs', 'pure', 'network', 'approval', 'execute', 'reconcile']),
    parameters: parametersSchema(tool),
  }));
  const parts = {
    config: { ...config, tools },
    keys: [...keys.names()].toSorted().map((name) => [name, sha256(keys.resolve(name) ?? '')]),
    env: CHOOSING_VARIABLES.map((name) => [name, env[name] ?? '']),
  };
  return sha256(JSON.stringify(parts, functionAsSource)).slice(0, HASH_CHARS);
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
