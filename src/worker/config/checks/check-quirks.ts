import { didYouMean } from '../../../contracts/text/did-you-mean.js';
import { redact } from '../../../contracts/text/redact.js';
import type { HttpApi, HttpProvider } from '../../../define/provider-definition.js';
import type { ProviderQuirks } from '../../../define/provider-quirks.js';
import { httpFormat } from '../../../providers/registry.js';

/** Headers and query parameters that carry keys. */
const KEY_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'api-key',
  'x-api-key',
  'x-goog-api-key',
  'cookie',
]);
const KEY_QUERIES: ReadonlySet<string> = new Set(['key', 'api-key', 'api_key', 'apikey', 'access_token', 'token']);

/** Valid header names and values. The HTTP client throws for others, which would fail a run. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/u;
const HEADER_TEXT = /^[\t\u0020-\u007e]*$/u;

/** Headers that the HTTP client sets itself. A second value makes the client throw or the server wait forever. */
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

/** Checks quirks beyond the schema. Returns each problem with its path. */
export function quirkProblems(path: string, { api, quirks = {} }: Pick<HttpProvider, 'api' | 'quirks'>): string[] {
  return [
    ...Object.keys(quirks).flatMap((name) => unsupportedProblems(path, api, name)),
    ...keyProblems(`${path}.headers`, quirks.headers, KEY_HEADERS),
    ...keyProblems(`${path}.query`, quirks.query, KEY_QUERIES),
    ...headerProblems(`${path}.headers`, quirks.headers),
  ];
}

/** A quirk without effect is a mistake in the config. */
function unsupportedProblems(path: string, api: HttpApi, name: string): string[] {
  const known: readonly string[] = httpFormat(api).quirks;
  if (known.includes(name)) return [];
  if (name === 'template')
    return [`${path}.template: only api openai-completions has prompt templates; for tool calls as text use toolCallsAsText`];
  return [`${path}.${name}: not supported by api ${api}${didYouMean(name, known)}; supported: ${known.join(', ')}`];
}

/** Rejects keys in plain text: a config may be committed, and these values are sent unchanged. */
function keyProblems(path: string, values: ProviderQuirks['headers'] = {}, holders: ReadonlySet<string>): string[] {
  const plainKeys = Object.entries(values).filter(([name, value]) => holders.has(name.toLowerCase()) || isKey(value));
  return plainKeys.map(([name]) => `${path}.${name}: set keys by reference in credentials; keyHeader sets the header that carries them`);
}

function isKey(value: string): boolean {
  return /^(?:env|file):/u.test(value) || redact(value) !== value;
}

function headerProblems(path: string, headers: ProviderQuirks['headers'] = {}): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (CLIENT_HEADERS.has(name.toLowerCase())) return [`${path}.${name}: the HTTP client sets this header; remove it`];
    return HEADER_NAME.test(name) && HEADER_TEXT.test(value) ? [] : [`${path}.${name}: not a valid HTTP header`];
  });
}
