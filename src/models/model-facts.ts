import { type ModelRef, parseModelRef } from '../contracts/models/model-ref.js';
import type { ModelPrice } from '../contracts/schemas/model.js';
import type { Config } from '../define/define-config.js';
import type { ModelFacts } from '../define/model-options.js';
import { knownProvider } from '../providers/access/known-providers.js';
import { EXECUTOR_KINDS } from '../providers/registry.js';
import { KNOWN_MODELS } from './catalog/models.js';

const FREE: ModelPrice = { input: 0, output: 0 };

/** What a config says of models. */
export type FactsConfig = Pick<Config, 'models' | 'prices' | 'contextWindows' | 'providers'>;

/** What is known of a model: the config's word field by field, else the data file's; a local model costs nothing. Never throws. */
export function modelFacts(model: string, { models = {}, prices = {}, contextWindows = {}, providers = {} }: FactsConfig = {}): ModelFacts {
  const known = knownFacts(model, providers);
  const own = Object.hasOwn(models, model) ? models[model] : undefined;
  const price = own?.price ?? (Object.hasOwn(prices, model) ? prices[model] : undefined) ?? known?.price ?? freePrice(model);
  const contextWindow =
    own?.contextWindow ?? (Object.hasOwn(contextWindows, model) ? contextWindows[model] : undefined) ?? known?.contextWindow;
  return { ...known, ...own, ...(price ? { price } : {}), ...(contextWindow === undefined ? {} : { contextWindow }) };
}

/** Executors are no models: their cost elsewhere is not known. */
function freePrice(model: string): ModelPrice | undefined {
  const provider = model.split('/')[0] ?? '';
  return EXECUTOR_KINDS.has(provider) || knownProvider(provider)?.local ? FREE : undefined;
}

/** A dated snapshot (`…-20250929`, `…-2024-08-06`, `…-latest`) has the facts of its undated name. */
function knownFacts(name: string, providers: NonNullable<Config['providers']>): ModelFacts | undefined {
  const ref = parseModelRef(name);
  if (!ref) return undefined;
  const { provider, model } = maker(ref, providers);
  const models = Object.hasOwn(KNOWN_MODELS, provider) ? KNOWN_MODELS[provider] : undefined;
  const undated = model.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/u, '');
  const found = [model, undated].find((each) => models && Object.hasOwn(models, each));
  return found === undefined ? undefined : models?.[found];
}

/**
 * Whose model it is. Azure and OpenRouter sell some of them at their makers' prices, OpenRouter with dots in the versions of Claude; a
 * variant of OpenRouter's (`…:free`) is another offer, of which nothing is known. A config may have OpenAI spoken to over its other API.
 */
function maker({ provider, model }: ModelRef, providers: NonNullable<Config['providers']>): ModelRef {
  if (provider === 'openai' && providers['openai']?.api === 'openai-responses') return { provider: 'openai-responses', model };
  if (provider === 'azure') return { provider: 'openai', model };
  const resold = provider === 'openrouter' ? parseModelRef(model) : undefined;
  const seller = resold && OPENROUTER_MAKERS.get(resold.provider);
  if (!resold || !seller) return { provider, model };
  return { provider: seller, model: seller === 'anthropic' ? resold.model.replaceAll('.', '-') : resold.model };
}

/** OpenRouter's names of makers whose prices it passes on. Its OpenAI models think and call tools in one request. */
const OPENROUTER_MAKERS: ReadonlyMap<string, string> = new Map([
  ['openai', 'openai-responses'],
  ['anthropic', 'anthropic'],
  ['google', 'gemini'],
  ['x-ai', 'xai'],
]);
