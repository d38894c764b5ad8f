import type { KnownSecret } from '../../contracts/text/secret-forms.js';
import type { Config } from '../../define/define-config.js';

/** The keys of a worker by reference, `env:NAME` or `file:PATH`. Their values never leave the provider that uses them. */
export interface KeyRing {
  /** The value of a reference; undefined when it is unset, empty or cannot be used. A file is read anew each time. */
  resolve(reference: string): string | undefined;
  /** Why a reference gives no value, as `SECRET_…` with its name; undefined when it gives one. */
  problem(reference: string): string | undefined;
  /** Of all that have a usable value: the names of variables, and the references of files. */
  names(): readonly string[];
  /**
   * All values that the ring has or had, the newest four of each reference, to mask them. The same array until a value is added. Files
   * are read again after a second. Never throws.
   */
  held(): readonly KnownSecret[];
}

/** The config, environment and keys of a worker: all that decides how a provider is reached. */
export interface AccessOptions {
  readonly config: Pick<Config, 'providers' | 'credentials' | 'agents' | 'model' | 'fallbacks' | 'models'>;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly keys: KeyRing;
}

/** True for a model that the owner of the worker chose. Whoever starts a run may name any other one. */
export function namesModel({ model, fallbacks = [], models = {}, agents = {} }: AccessOptions['config'], name: string): boolean {
  const ofAgents = Object.values(agents).flatMap((agent) => [agent.model, ...(agent.fallbacks ?? [])]);
  return [model, ...fallbacks, ...Object.keys(models), ...ofAgents].includes(name);
}
