/** What is wrong with a provider's address; undefined when nothing is. Never throws. */
export function baseUrlProblem(
  text: string,
  { allowInsecure = false }: { readonly allowInsecure?: boolean | undefined } = {},
): string | undefined {
  if (!URL.canParse(text)) return 'not a URL; use https://host/path';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return `${url.protocol}// is not http or https`;
  if (url.username || url.password) return 'it contains credentials; set the key by reference instead';
  // a query or fragment of nothing is one too: the path would be its value
  if (/[?#]/u.test(text)) return 'it has a query or a fragment; a path is appended to it';
  const isLoopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/u.test(url.hostname);
  if (url.protocol === 'http:' && !isLoopback && !allowInsecure)
    return 'plain http to another machine; use https, or allowInsecure: true in the config';
  return undefined;
}
