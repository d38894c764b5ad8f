import { PerdureError } from '../../contracts/perdure-error.js';
import { didYouMean } from '../../contracts/text/did-you-mean.js';
import type { Config } from '../../define/define-config.js';
import type { ModelFacts, ModelOptions } from '../../define/model-options.js';
import { KNOWN_MODELS, MODELS_AS_OF } from '../../models/catalog/models.js';
import { providersToAsk } from '../../models/find-bare-model.js';
import { modelFacts } from '../../models/model-facts.js';
import { keyReferences } from '../../providers/access/key-references.js';
import { KNOWN_PROVIDERS, providerNameProblem } from '../../providers/access/known-providers.js';
import { listModels } from '../../providers/access/list-models.js';
import { type ProviderAccess, providerAccess, type ServerAccess } from '../../providers/access/provider-access.js';
import type { AccessOptions } from '../../providers/contract/access-options.js';
import { ModelError } from '../../providers/contract/model-error.js';
import type { LoadedConfig } from './load-config.js';

/** A provider in the list of `perdure models`. */
export interface ListedProvider {
  readonly name: string;
  /** True if its key is configured or not required. Does not prove that its server is running, unless the server was queried. */
  readonly callable: boolean;
  /** References of the configured keys, never their values. Empty with `callable: true` if no key is required. */
  readonly keys: readonly string[];
  /** The reason why it cannot be called, or why its models could not be listed. */
  readonly problem?: string;
}

/** A model with its known properties. An absent property is unknown. */
export interface ListedModel extends ModelFacts {
  /** `provider/model` */
  readonly model: string;
  readonly callable: boolean;
}

/** The available providers and models, in the order of detection, with the providers of the config first. */
export interface ModelList {
  /** The date of the model catalog. */
  readonly asOf: string;
  readonly providers: readonly ListedProvider[];
  readonly models: readonly ListedModel[];
}

/** Options of `listKnownModels`. */
export interface ListOptions {
  /** A part of `provider/model`, case-insensitive. */
  readonly filter?: string;
  readonly provider?: string;
  /** Queries the servers for their models, which then replace those of the catalog. @default false */
  readonly ask?: boolean;
}

/**
 * Lists the models of the catalog, of the config, and of the queried servers. A server that does not answer sets `problem` of its
 * provider. Throws PerdureError `UNKNOWN_PROVIDER` (2), or `UNKNOWN_MODEL` (3) if no model matches the filter, both with a suggestion.
 */
export async function listKnownModels(loaded: LoadedConfig, { filter = '', provider, ask = false }: ListOptions): Promise<ModelList> {
  const { config } = loaded;
  const problem = provider === undefined ? undefined : providerNameProblem(provider, Object.keys(config.providers ?? {}));
  if (problem) throw new PerdureError('UNKNOWN_PROVIDER', problem, 2);
  const options = { config, keys: loaded.keys, env: loaded.env };
  const names = providerNames(config).filter((name) => provider === undefined || name === provider);
  const found = await Promise.all(names.map((name) => modelsOf(name, { isAsked: ask, isNamed: name === provider }, options)));
  const models = found.flatMap((each) => each.models);
  const fitting = models.filter(({ model }) => model.toLowerCase().includes(filter.toLowerCase()));
  if (fitting.length === 0 && filter !== '') throw unknownModel(filter, models, names);
  const providers = found.filter(({ models: own }) => filter === '' || own.some((model) => fitting.includes(model)));
  return { asOf: MODELS_AS_OF, providers: providers.map((each) => each.provider), models: fitting };
}

/** All providers except `scripted`, which has no list of models. */
function providerNames({ providers = {} }: Config): string[] {
  const known = Object.entries(KNOWN_PROVIDERS).flatMap(([name, { api }]) => (api === 'scripted' ? [] : [name]));
  return [...new Set([...Object.keys(providers), ...known])];
}

interface ProviderModels {
  readonly provider: ListedProvider;
  readonly models: readonly ListedModel[];
}

/** The models that a server reported, or the reason why it did not. */
interface ServerModels {
  readonly ids?: readonly string[];
  readonly problem?: string;
}

interface QueryOptions {
  readonly isAsked: boolean;
  readonly isNamed: boolean;
}

async function modelsOf(
  name: string,
  { isAsked, isNamed }: QueryOptions,
  options: AccessOptions & { readonly config: Config },
): Promise<ProviderModels> {
  const { config, keys } = options;
  const access = providerAccess({ provider: name, model: '*' }, options);
  const callable = access.kind !== 'refused';
  const server = isAsked && access.kind === 'server' ? access : undefined;
  const reported: ServerModels = server
    ? await (isNamed || mayReceiveKey(name, server, options) ? queryServer(server) : notQueried(name))
    : {};
  const problem = access.kind === 'refused' ? refusal(name, access, options) : reported.problem;
  const configuredKeys =
    access.kind === 'server' ? access.credentials : keyReferences(name, options).filter((key) => keys.resolve(key) !== undefined);
  const ids = new Set([...configuredModels(name, config), ...(reported.ids ?? knownModels(name))]);
  return {
    provider: { name, callable, keys: configuredKeys, ...(problem === undefined ? {} : { problem }) },
    models: [...ids].map((id) => listed(`${name}/${id}`, callable, config)),
  };
}

type RefusedAccess = Extract<ProviderAccess, { readonly kind: 'refused' }>;

/** The reason why a provider is refused, without the hints on other keys, which the list already shows. */
function refusal(name: string, { type, problem }: RefusedAccess, options: AccessOptions): string {
  if (type !== 'Model.Auth') return problem;
  return keyReferences(name, options)
    .flatMap((reference) => options.keys.problem(reference) ?? [])
    .join(', ');
}

/** LLM_API_KEY belongs to one provider, so it is not sent to every provider in turn. */
function mayReceiveKey(name: string, { credentials }: ServerAccess, options: AccessOptions): boolean {
  return credentials.length === 0 || providersToAsk(options).includes(name);
}

function notQueried(name: string): ServerModels {
  return { problem: `not queried, because LLM_API_KEY may belong to another provider; use --provider ${name}` };
}

async function queryServer(access: ServerAccess): Promise<ServerModels> {
  try {
    const ids = await listModels(access);
    return { ids: ids.toSorted((a, b) => (a < b ? -1 : 1)) };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return { problem: error.message };
  }
}

function knownModels(provider: string): string[] {
  return Object.keys((Object.hasOwn(KNOWN_MODELS, provider) ? KNOWN_MODELS[provider] : undefined) ?? {});
}

function configuredModels(provider: string, { models = {}, prices = {}, contextWindows = {} }: Config): string[] {
  const names = [models, prices, contextWindows].flatMap((each) => Object.keys(each));
  return names.filter((name) => name.startsWith(`${provider}/`)).map((name) => name.slice(provider.length + 1));
}

/** The properties of a model, without the request options of the config. */
function listed(model: string, callable: boolean, config: Config): ListedModel {
  const { thinking: _thinking, times: _times, ...facts }: ModelOptions = modelFacts(model, config);
  return { model, callable, ...facts };
}

function unknownModel(filter: string, models: readonly ListedModel[], providers: readonly string[]): PerdureError {
  // the catalog has no models of local servers
  if (providers.includes(filter)) {
    const command = `perdure models --provider ${filter} --ask`;
    return new PerdureError('UNKNOWN_MODEL', `the catalog has no models of "${filter}"; query its server with: ${command}`, 3);
  }
  // users type a model with or without its provider
  const names = models.flatMap(({ model }) => [model, model.slice(model.indexOf('/') + 1)]);
  const shown = JSON.stringify(filter.slice(0, 80));
  return new PerdureError('UNKNOWN_MODEL', `no known model matches ${shown}${didYouMean(filter, names)}`, 3);
}
