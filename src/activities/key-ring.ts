/** The keys of a worker, by the name of their environment variable. Their values never leave the provider that uses them. */
export interface KeyRing {
  /** The value of a reference like `env:OPENAI_API_KEY`; undefined when it is unset, empty or cannot be used. */
  resolve(reference: string): string | undefined;
  /** Why a reference gives no value, as `SECRET_…` with its name; undefined when it gives one. */
  problem(reference: string): string | undefined;
  /** The names of the variables that have a usable value. */
  names(): readonly string[];
}

/** The keys of the providers that need no config. Keys of other services stay: tools of the config may need them. */
const PROVIDER_KEY = /^(?:(?:OPENAI|ANTHROPIC|LLM)_API_KEY(?:_\d+)?|ANTHROPIC_AUTH_TOKEN)$/u;

/** What an HTTP header can carry. With any other character the HTTP client throws, and its message holds the key. */
const HEADER_VALUE = /^[\u0021-\u007e]+$/u;

/** What was taken out of an environment before: whoever loads a config again in the same process still has its keys. */
const captured = new WeakMap<NodeJS.ProcessEnv, Map<string, string>>();

/**
 * Takes the provider keys out of an environment, so that no child process can inherit them: values are remembered, the
 * variables deleted. White space around a value is trimmed. `extra` names further variables, those that a config refers to.
 */
export function captureKeys(env: NodeJS.ProcessEnv, extra: readonly string[] = []): KeyRing {
  const remembered = captured.get(env) ?? new Map<string, string>();
  captured.set(env, remembered);
  const isKey = (name: string): boolean => PROVIDER_KEY.test(name) || extra.includes(name);
  for (const [name, value] of Object.entries(env)) {
    if (!isKey(name)) continue;
    remembered.set(name, (value ?? '').trim());
    delete env[name];
  }
  return ringOf(new Map([...remembered].filter(([name, value]) => isKey(name) && value !== '')));
}

function ringOf(keys: ReadonlyMap<string, string>): KeyRing {
  const usable = (name: string): boolean => HEADER_VALUE.test(keys.get(name) ?? '');
  return {
    resolve: (reference) => (usable(nameOf(reference)) ? keys.get(nameOf(reference)) : undefined),
    problem(reference) {
      const name = nameOf(reference);
      if (usable(name)) return undefined;
      return keys.has(name)
        ? `SECRET_BAD env:${name}: it holds a character that no request header can carry, such as a line break`
        : `SECRET_MISSING env:${name}`;
    },
    names: () => [...keys.keys()].filter(usable),
  };
}

function nameOf(reference: string): string {
  return reference.replace(/^env:/u, '');
}
