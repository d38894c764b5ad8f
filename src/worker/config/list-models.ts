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

/** A provider that a run can name. */
export interface ListedProvider {
  readonly name: string;
  /** Its key is there, or it needs none. Whether its server runs is known only when it was asked. */
  readonly callable: boolean;
  /** References of its keys that have a value, never the values. Empty with `callable`: it needs none. */
  readonly keys: readonly string[];
  /** Why it cannot be called, or did not tell its models. */
  readonly problem?: string;
}

/** A model with what is known of it. A fact that is absent is not known. */
export interface ListedModel extends ModelFacts {
  /** `provider/model` */
  readonly model: string;
  readonly callable: boolean;
}

/** What there is to choose from, in the order of detection; the config's providers first. */
export interface ModelList {
  /** When the facts were last compared with their sources. */
  readonly asOf: string;
  readonly providers: readonly ListedProvider[];
  readonly models: readonly ListedModel[];
}

/** What to list. */
export interface ListOptions {
  /** A part of `provider/model`, in upper or lower case. */
  readonly filter?: string;
  readonly provider?: string;
  /** Ask the servers that can be called which models they have: theirs then stand in place of the known ones. @default false */
  readonly ask?: boolean;
}

/**
 * Lists the models of the data file, of the config, and of the servers that are asked. A server that does not answer is a provider with a
 * problem. Throws PerdureError `UNKNOWN_PROVIDER` (2), or `UNKNOWN_MODEL` (3) when nothing fits the filter, both with the nearest name.
 */
export async function listKnownModels(loaded: LoadedConfig, { filter = '', provider, ask = false }: ListOptions): Promise<ModelList> {
  const { config } = loaded;
  const problem = provider === undefined ? undefined : providerNameProblem(provider, Object.keys(config.providers ?? {}));
  if (problem) throw new PerdureError('UNKNOWN_PROVIDER', problem, 2);
  const options = { config, keys: loaded.keys, env: process.env };
  const names = providerNames(config).filter((name) => provider === undefined || name === provider);
  const found = await Promise.all(names.map((name) => modelsOf(name, { isAsked: ask, isNamed: name === provider }, options)));
  const models = found.flatMap((each) => each.models);
  const fitting = models.filter(({ model }) => model.toLowerCase().includes(filter.toLowerCase()));
  if (fitting.length === 0 && filter !== '') throw unknownModel(filter, models, names);
  const providers = found.filter(({ models: own }) => filter === '' || own.some((model) => fitting.includes(model)));
  return { asOf: MODELS_AS_OF, providers: providers.map((each) => each.provider), models: fitting };
}

/** Scripts are files, and no models that one could list. */
function providerNames({ providers = {} }: Config): string[] {
  const known = Object.entries(KNOWN_PROVIDERS).flatMap(([name, { api }]) => (api === 'scripted' ? [] : [name]));
  return [...new Set([...Object.keys(providers), ...known])];
}

interface ProviderModels {
  readonly provider: ListedProvider;
  readonly models: readonly ListedModel[];
}

/** The models that a server says it has; or why it does not say. */
interface Told {
  readonly ids?: readonly string[];
  readonly problem?: string;
}

interface Asking {
  readonly isAsked: boolean;
  readonly isNamed: boolean;
}

async function modelsOf(
  name: string,
  { isAsked, isNamed }: Asking,
  options: AccessOptions & { readonly config: Config },
): Promise<ProviderModels> {
  const { config, keys } = options;
  const access = providerAccess({ provider: name, model: '*' }, options);
  const callable = access.kind !== 'refused';
  const asked = isAsked && access.kind === 'server' ? access : undefined;
  const told: Told = asked ? await (isNamed || isTrusted(name, asked, options) ? askServer(asked) : untrusted(name)) : {};
  const problem = access.kind === 'refused' ? refusal(name, access, options) : told.problem;
  const held =
    access.kind === 'server' ? access.credentials : keyReferences(name, options).filter((key) => keys.resolve(key) !== undefined);
  const ids = new Set([...configuredModels(name, config), ...(told.ids ?? knownModels(name))]);
  return {
    provider: { name, callable, keys: held, ...(problem === undefined ? {} : { problem }) },
    models: [...ids].map((id) => listed(`${name}/${id}`, callable, config)),
  };
}

type RefusedAccess = Extract<ProviderAccess, { readonly kind: 'refused' }>;

/** Who else has a key stands in the list itself. */
function refusal(name: string, { type, problem }: RefusedAccess, options: AccessOptions): string {
  if (type !== 'Model.Auth') return problem;
  return keyReferences(name, options)
    .flatMap((reference) => options.keys.problem(reference) ?? [])
    .join(', ');
}

/** A key for anybody (LLM_API_KEY) belongs to one provider: to all of them in turn it is not shown. */
function isTrusted(name: string, { credentials }: ServerAccess, options: AccessOptions): boolean {
  return credentials.length === 0 || providersToAsk(options).includes(name);
}

function untrusted(name: string): Told {
  return { problem: `not asked: nothing says that LLM_API_KEY is for it; name it with --provider ${name}` };
}

async function askServer(access: ServerAccess): Promise<Told> {
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

/** The facts alone: how a run asks the model is no fact of it. */
function listed(model: string, callable: boolean, config: Config): ListedModel {
  const { thinking: _thinking, times: _times, ...facts }: ModelOptions = modelFacts(model, config);
  return { model, callable, ...facts };
}

function unknownModel(filter: string, models: readonly ListedModel[], providers: readonly string[]): PerdureError {
  // of local servers the list has no models
  if (providers.includes(filter)) {
    const question = `perdure models --provider ${filter} --ask`;
    return new PerdureError('UNKNOWN_MODEL', `no model of ${filter} is known here; its server may tell: ${question}`, 3);
  }
  // people type a model with its provider or without
  const names = models.flatMap(({ model }) => [model, model.slice(model.indexOf('/') + 1)]);
  const shown = JSON.stringify(filter.slice(0, 80));
  return new PerdureError('UNKNOWN_MODEL', `no known model is named like ${shown}${didYouMean(filter, names)}`, 3);
}
