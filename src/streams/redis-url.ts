/** What is wrong with the address of a Redis server; undefined when nothing is. Contains no part of the address. Never throws. */
export function redisUrlProblem(
  text: string,
  { allowInsecure = false }: { readonly allowInsecure?: boolean | undefined } = {},
): string | undefined {
  if (!URL.canParse(text)) return 'not a URL; use redis://host:6379 or rediss://host:6379';
  const url = new URL(text);
  if (url.protocol !== 'redis:' && url.protocol !== 'rediss:') return `${url.protocol}// is not redis or rediss`;
  const isLoopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/u.test(url.hostname);
  if (url.protocol === 'redis:' && !isLoopback && !allowInsecure)
    return 'plain redis to another machine; use rediss://, or allowInsecure: true in the config';
  return undefined;
}

/** True if the address contains a user name or a password. */
export function hasCredentials(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username !== '' || password !== '';
}

/** A function that removes the credentials of an address from a text, and says which server is meant. */
export function describeServer(text: string | undefined): (message: string) => string {
  if (text === undefined || !URL.canParse(text)) return (message) => `Redis: ${message}`;
  const { host, username, password } = new URL(text);
  const secrets = [text, password, decoded(password), username, decoded(username)].filter(({ length }) => length > 0);
  const longestFirst = secrets.toSorted((a, b) => b.length - a.length);
  return (message) => `Redis at ${host}: ${longestFirst.reduce((shown, secret) => shown.replaceAll(secret, '[redacted]'), message)}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // not encoded: a bare percent sign
    return part;
  }
}
