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

/** What is wrong with a provider's address; undefined when nothing is. Never throws. */
export function baseUrlProblem(
  text: string,
  { allowInsecure = false }: { readonly allowInsecure?: boolean | undefined } = {},
): string | undefined {
  if (!URL.canParse(text)) return 'not a URL; use https://host/path';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return `${url.protocol}// is not http or https`;
  if (url.username || url.password) return 'it holds credentials; give the key by reference instead';
  // a query or fragment of nothing is one too: the path would be its value
  if (/[?#]/u.test(text)) return 'it has a query or a fragment; a path is appended to it';
  const isLoopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/u.test(url.hostname);
  if (url.protocol === 'http:' && !isLoopback && !allowInsecure)
    return 'plain http to another machine; use https, or allowInsecure: true in the config';
  return undefined;
}
