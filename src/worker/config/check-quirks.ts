import { didYouMean } from '../../contracts/text/did-you-mean.js';
import { redact } from '../../contracts/text/redact.js';
import type { HttpApi, HttpProvider } from '../../define/provider-definition.js';
import type { ProviderQuirks } from '../../define/provider-quirks.js';
import { httpFormat } from '../../providers/registry.js';

/** What servers read keys from. */
const KEY_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'api-key',
  'x-api-key',
  'x-goog-api-key',
  'cookie',
]);
const KEY_QUERIES: ReadonlySet<string> = new Set(['key', 'api-key', 'api_key', 'apikey', 'access_token', 'token']);

/** What an HTTP client takes as a header; with anything else it throws in the midst of a run. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/u;
const HEADER_TEXT = /^[\t\u0020-\u007e]*$/u;

/** What the client says itself of each request: with a second word beside its own it throws, or the server waits for what never comes. */
const CLIENT_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** What the schema cannot see of a server's quirks, each with its path. */
export function quirkProblems(path: string, { api, quirks = {} }: Pick<HttpProvider, 'api' | 'quirks'>): string[] {
  return [
    ...Object.keys(quirks).flatMap((name) => idleProblems(path, api, name)),
    ...keyProblems(`${path}.headers`, quirks.headers, KEY_HEADERS),
    ...keyProblems(`${path}.query`, quirks.query, KEY_QUERIES),
    ...headerProblems(`${path}.headers`, quirks.headers),
  ];
}

/** A quirk that nothing would come of is a mistake: whoever wrote it counts on it. */
function idleProblems(path: string, api: HttpApi, name: string): string[] {
  const known: readonly string[] = httpFormat(api).quirks;
  if (known.includes(name)) return [];
  if (name === 'template')
    return [`${path}.template: only api openai-completions has a prompt to make; for tools as text use toolCallsAsText`];
  return [`${path}.${name}: api ${api} does not go by it${didYouMean(name, known)}; it goes by ${known.join(', ')}`];
}

/** Values of a config are read by many, and sent as they are; keys stand there by reference only. */
function keyProblems(path: string, values: ProviderQuirks['headers'] = {}, holders: ReadonlySet<string>): string[] {
  const wrong = Object.entries(values).filter(([name, value]) => holders.has(name.toLowerCase()) || isKey(value));
  return wrong.map(([name]) => `${path}.${name}: keys are given by reference, in credentials; keyHeader says where they go`);
}

function isKey(value: string): boolean {
  return /^(?:env|file):/u.test(value) || redact(value) !== value;
}

function headerProblems(path: string, headers: ProviderQuirks['headers'] = {}): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (CLIENT_HEADERS.has(name.toLowerCase())) return [`${path}.${name}: this header is the client's own; leave it out`];
    return HEADER_NAME.test(name) && HEADER_TEXT.test(value) ? [] : [`${path}.${name}: no header that can be sent`];
  });
}
