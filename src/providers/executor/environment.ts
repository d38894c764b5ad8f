import { delimiter } from 'node:path';
import { SecretMask } from '../../contracts/text/secret-mask.js';
import type { SubprocessExecutor } from '../../define/agent-executor.js';
import { KeyReference } from '../../define/worker/credentials.js';
import { commandEnvironment } from '../../process/command-sandbox.js';
import type { KeyRing } from '../contract/access-options.js';
import { ModelError } from '../contract/model-error.js';
import { hideKey } from '../errors/redact-key.js';

/** What a child process sees, and how its secrets are kept out of what is told of it. */
export interface ExecutorEnvironment {
  readonly variables: Readonly<Record<string, string>>;
  /** Masks every value that came by reference, and parts of those whose variable is named as a secret. */
  redact(text: string): string;
}

/** What it is made from. */
export interface ExecutorEnvironmentOptions {
  /** The agent's name, for errors. */
  readonly agent: string;
  readonly executor: SubprocessExecutor;
  /** The worker's environment, of which the child gets what commands get. */
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly keys: KeyRing;
}

/** A value that is not a secret, an address above all, is replaced as a whole and never by its parts. */
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD/iu;

/**
 * The environment of an executor: what a command of the workspace tools gets, then the definition's own variables; folders of its PATH
 * come first. References are resolved here, and nothing else of the worker's environment is handed on. Throws `Executor.Failed` for a
 * reference without a value, by its name.
 */
export function executorEnvironment(options: ExecutorEnvironmentOptions): ExecutorEnvironment {
  const { env = {} } = options.executor;
  const base = commandEnvironment(options.env);
  const named = Object.entries(env).map(([name, value]) => ({ name, value, isReference: KeyReference.safeParse(value).success }));
  const resolved = named.map(({ name, value, isReference }) => [name, isReference ? resolve(name, value, options) : value] as const);
  const variables: Record<string, string> = { ...base, ...Object.fromEntries(resolved) };
  if (env['PATH'] !== undefined && base['PATH'] !== undefined) variables['PATH'] = `${variables['PATH']}${delimiter}${base['PATH']}`;
  const secrets = named.flatMap(({ name, value, isReference }) =>
    isReference ? [{ variable: name, name: value, value: variables[name] ?? '' }] : [],
  );
  const mask = new SecretMask(() => secrets);
  const parts = secrets.filter(({ variable }) => SECRET_NAME.test(variable)).map(({ value }) => value);
  return { variables, redact: (text) => parts.reduce(hideKey, mask.text(text)) };
}

function resolve(name: string, reference: string, { agent, keys }: ExecutorEnvironmentOptions): string {
  const value = keys.resolve(reference);
  if (value !== undefined) return value;
  throw new ModelError('Executor.Failed', `agent ${agent}: env ${name}: ${keys.problem(reference) ?? `${reference} has no value`}`);
}
