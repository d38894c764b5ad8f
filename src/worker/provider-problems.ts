import { baseUrlProblem } from '../activities/providers/base-url.js';
import { ownReferences } from '../activities/providers/key-references.js';
import { KNOWN_PROVIDERS, knownProvider, providerNameProblem } from '../activities/providers/known-providers.js';
import { didYouMean } from '../contracts/nearest-name.js';
import type { Config } from '../define/define-config.js';
import type { HttpProvider, ProviderDefinition } from '../define/provider-definition.js';
import type { ProviderQuirks } from '../define/provider-quirks.js';

/** Names before the slash of a model that are no providers of HTTP. */
const RESERVED: ReadonlySet<string> = new Set(['scripted', 'subprocess', 'stub']);

/** What servers read keys from. */
const KEY_HEADERS: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'api-key', 'x-api-key', 'x-goog-api-key']);
const KEY_QUERIES: ReadonlySet<string> = new Set(['key', 'api-key', 'api_key', 'apikey', 'access_token', 'token']);

/** What an HTTP client takes as a header; with anything else it throws in the midst of a run. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/u;
const HEADER_TEXT = /^[\t\u0020-\u007e]*$/u;

/** What the schema cannot see of providers and their keys, each with its path. */
export function providerProblems({ providers = {}, credentials = {} }: Config): string[] {
  return [
    ...Object.entries(providers).flatMap(([name, provider]) => definitionProblems(`providers.${name}`, name, provider)),
    ...Object.keys(credentials).flatMap((name) => credentialsProblems(name, providers)),
    ...Object.entries(credentials).flatMap(([name, references]) => repeated(`credentials.${name}`, references)),
  ];
}

function definitionProblems(path: string, name: string, provider: ProviderDefinition): string[] {
  const address = 'baseUrl' in provider && provider.baseUrl !== undefined ? baseUrlProblem(provider.baseUrl, provider) : undefined;
  return [
    ...(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/u.test(name)
      ? []
      : [`${path}: a name of A-Z a-z 0-9 . _ -, for it stands before the slash of a model`]),
    ...(RESERVED.has(name) ? [`${path}: this name has a meaning of its own`] : []),
    ...(address ? [`${path}.baseUrl: BAD_BASE_URL ${address}`] : []),
    ...('quirks' in provider || 'preset' in provider ? serverProblems(path, provider) : []),
    ...(provider.api === 'anthropic-bedrock' ? [] : repeated(`${path}.credentials`, ownReferences(provider) ?? [])),
  ];
}

function serverProblems(path: string, { api, preset, quirks = {} }: HttpProvider): string[] {
  const names = Object.entries(KNOWN_PROVIDERS).flatMap(([name, known]) => (known.api === 'scripted' ? [] : [name]));
  const isKnown = preset === undefined || (knownProvider(preset) !== undefined && names.includes(preset));
  return [
    ...(isKnown ? [] : [`${path}.preset: unknown ${JSON.stringify(preset)}${didYouMean(preset, names)}; known: ${names.join(', ')}`]),
    ...(quirks.template !== undefined && api !== 'openai-completions'
      ? [`${path}.quirks.template: only api openai-completions has a prompt to make; for tools as text use toolCallsAsText`]
      : []),
    ...keyProblems(`${path}.quirks.headers`, quirks.headers, KEY_HEADERS),
    ...keyProblems(`${path}.quirks.query`, quirks.query, KEY_QUERIES),
    ...headerProblems(`${path}.quirks.headers`, quirks.headers),
  ];
}

/** Values of a config are read by many; keys stand there by reference only. */
function keyProblems(path: string, values: ProviderQuirks['headers'] = {}, holders: ReadonlySet<string>): string[] {
  const names = Object.keys(values).filter((name) => holders.has(name.toLowerCase()));
  return names.map((name) => `${path}.${name}: keys are given by reference, in credentials; keyHeader says where they go`);
}

function headerProblems(path: string, headers: ProviderQuirks['headers'] = {}): string[] {
  const wrong = Object.entries(headers).filter(([name, value]) => !HEADER_NAME.test(name) || !HEADER_TEXT.test(value));
  return wrong.map(([name]) => `${path}.${name}: no header that can be sent`);
}

function credentialsProblems(name: string, providers: NonNullable<Config['providers']>): string[] {
  const unknown = providerNameProblem(name, Object.keys(providers));
  if (unknown) return [`credentials: ${unknown}`];
  const defined = Object.hasOwn(providers, name) ? providers[name] : undefined;
  if (!defined || ownReferences(defined) === undefined) return [];
  return [`credentials.${name}: the keys of this provider stand in providers.${name}`];
}

function repeated(path: string, references: readonly string[]): string[] {
  const again = references.filter((reference, index) => references.indexOf(reference) !== index);
  return again.map((reference) => `${path}: ${reference} is there twice`);
}
