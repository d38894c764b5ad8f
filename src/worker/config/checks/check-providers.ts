import { didYouMean } from '../../../contracts/text/did-you-mean.js';
import type { Config } from '../../../define/define-config.js';
import type { HttpProvider, ProviderDefinition } from '../../../define/provider-definition.js';
import { ownReferences } from '../../../providers/access/key-references.js';
import { KNOWN_PROVIDERS, knownProvider, providerNameProblem } from '../../../providers/access/known-providers.js';
import { baseUrlProblem } from '../../../providers/http/base-url.js';
import { EXECUTOR_KINDS, isHttpProvider } from '../../../providers/registry.js';
import { quirkProblems } from './check-quirks.js';

/** Provider names with a built-in meaning. */
const RESERVED: ReadonlySet<string> = new Set(['scripted', ...EXECUTOR_KINDS]);

/** Checks providers and their keys beyond the schema. Returns each problem with its path. */
export function providerProblems({ providers = {}, credentials = {}, limits = {} }: Config): string[] {
  return [
    ...Object.entries(providers).flatMap(([name, provider]) => definitionProblems(`providers.${name}`, name, provider)),
    ...Object.keys(credentials).flatMap((name) => credentialsProblems(name, providers)),
    ...Object.keys(limits.providers ?? {}).flatMap((name) => limitsProblems(name, providers)),
    ...Object.entries(credentials).flatMap(([name, references]) => repeated(`credentials.${name}`, [references].flat())),
  ];
}

function definitionProblems(path: string, name: string, provider: ProviderDefinition): string[] {
  const address = 'baseUrl' in provider && provider.baseUrl !== undefined ? baseUrlProblem(provider.baseUrl, provider) : undefined;
  return [
    ...(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/u.test(name) ? [] : [`${path}: use A-Z a-z 0-9 . _ - in the name of a provider`]),
    ...(RESERVED.has(name) ? [`${path}: this name is reserved`] : []),
    ...(address ? [`${path}.baseUrl: BAD_BASE_URL ${address}`] : []),
    ...(isHttpProvider(provider) ? serverProblems(path, provider) : []),
  ];
}

function serverProblems(path: string, { api, preset, quirks, credentials = [] }: HttpProvider): string[] {
  const names = Object.entries(KNOWN_PROVIDERS).flatMap(([name, known]) => (known.api === 'scripted' ? [] : [name]));
  const isKnown = preset === undefined || (knownProvider(preset) !== undefined && names.includes(preset));
  return [
    ...(isKnown ? [] : [`${path}.preset: unknown ${JSON.stringify(preset)}${didYouMean(preset, names)}; known: ${names.join(', ')}`]),
    ...quirkProblems(`${path}.quirks`, { api, quirks }),
    ...repeated(`${path}.credentials`, [credentials].flat()),
  ];
}

function credentialsProblems(name: string, providers: NonNullable<Config['providers']>): string[] {
  const unknown = providerNameProblem(name, Object.keys(providers));
  if (unknown) return [`credentials: ${unknown}`];
  const defined = Object.hasOwn(providers, name) ? providers[name] : undefined;
  if (!defined || ownReferences(defined) === undefined) return [];
  return [`credentials.${name}: this provider is defined in providers.${name}; set its keys there`];
}

/** Executors are not servers: their processes make calls of their own. */
function limitsProblems(name: string, providers: NonNullable<Config['providers']>): string[] {
  const problem = EXECUTOR_KINDS.has(name)
    ? 'it is an executor, and has no limits of calls'
    : providerNameProblem(name, Object.keys(providers));
  return problem === undefined ? [] : [`limits.providers.${name}: ${problem}`];
}

function repeated(path: string, references: readonly string[]): string[] {
  const duplicates = references.filter((reference, index) => references.indexOf(reference) !== index);
  return duplicates.map((reference) => `${path}: ${reference} is listed twice`);
}
