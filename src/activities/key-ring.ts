/** The keys of a worker, by the name of their environment variable. Their values never leave the provider that uses them. */
export interface KeyRing {
  /** The value of a reference like `env:OPENAI_API_KEY`; undefined when it is unset or empty. */
  resolve(reference: string): string | undefined;
  /** The names of the variables that have a value. */
  names(): readonly string[];
}

/** Variables that hold keys and are taken out of the environment, so that no child process can read them (faults X5). */
const KEY_VARIABLE = /^(OPENAI_API_KEY|ANTHROPIC_API_KEY|LLM_API_KEY|.*_API_KEY(_\d+)?|.*_AUTH_TOKEN)$/u;

/**
 * Takes the keys out of an environment: values are remembered, the variables deleted. Line breaks around a value are trimmed.
 * `extra` names further variables that a config refers to. Temporal's own variables stay.
 */
export function captureKeys(env: NodeJS.ProcessEnv, extra: readonly string[] = []): KeyRing {
  const keys = new Map<string, string>();
  for (const [name, value] of Object.entries(env)) {
    if (name.startsWith('TEMPORAL_') || !(KEY_VARIABLE.test(name) || extra.includes(name))) continue;
    const trimmed = value?.trim();
    if (trimmed) keys.set(name, trimmed);
    delete env[name];
  }
  return {
    resolve: (reference) => keys.get(reference.replace(/^env:/u, '')),
    names: () => [...keys.keys()],
  };
}
