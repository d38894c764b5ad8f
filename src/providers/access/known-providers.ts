import { didYouMean } from '../../contracts/text/did-you-mean.js';
import { KNOWN_PROVIDERS, type KnownProvider } from './provider-catalog.js';

export { KNOWN_PROVIDERS };

/** A provider by its name; undefined for any other name, also for those that every object has. */
export function knownProvider(name: string): KnownProvider | undefined {
  return Object.hasOwn(KNOWN_PROVIDERS, name) ? KNOWN_PROVIDERS[name] : undefined;
}

/** Why a name is no provider, with the nearest one; undefined when it is one. */
export function providerNameProblem(name: string, configured: readonly string[]): string | undefined {
  if (configured.includes(name) || knownProvider(name)) return undefined;
  const shown = JSON.stringify(name.slice(0, 80));
  const names = [...Object.keys(KNOWN_PROVIDERS), ...configured];
  return `unknown provider ${shown}${didYouMean(name, names)}; known: ${names.join(', ')}`;
}
