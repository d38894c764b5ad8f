import { KNOWN_PROVIDERS } from '../../../src/providers/access/provider-catalog.js';

/** A known provider that can be asked for real: it has a model of its own to begin with, and its key is in the environment. */
export interface KeyedProvider {
  readonly name: string;
  readonly model: string;
  readonly keyVariable: string;
}

/** The known providers that need a key: those whose key is there, and the variables of the others. */
export function keyedProviders(env: Readonly<NodeJS.ProcessEnv>): {
  readonly keyed: readonly KeyedProvider[];
  readonly missing: readonly string[];
} {
  const known = Object.entries(KNOWN_PROVIDERS).flatMap(([name, { keyVariable, defaultModel }]): KeyedProvider[] =>
    keyVariable === undefined || defaultModel === undefined ? [] : [{ name, model: defaultModel, keyVariable }],
  );
  const hasKey = ({ keyVariable }: KeyedProvider): boolean => (env[keyVariable] ?? '').trim() !== '';
  const missing = known.filter((provider) => !hasKey(provider)).map(({ keyVariable }) => keyVariable);
  return { keyed: known.filter(hasKey), missing: [...new Set(missing)] };
}
