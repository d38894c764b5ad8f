import type { ModelPrice } from '../contracts/model.js';
import type { Config } from '../define/define-config.js';
import type { ModelFacts } from '../define/model-options.js';
import { MODEL_FACTS } from './data/prices.js';

const FREE: ModelPrice = { input: 0, output: 0 };

/** Providers whose models cost nothing here: they run on this machine, play a script, or are no models. */
const FREE_PROVIDERS = new Set(['scripted', 'ollama', 'stub', 'subprocess']);

/** What a config says of models. */
export type FactsConfig = Pick<Config, 'models' | 'prices' | 'contextWindows'>;

/** What is known of a model: the config's word field by field, else the data file's; a local model costs nothing. Never throws. */
export function modelFacts(model: string, { models = {}, prices = {}, contextWindows = {} }: FactsConfig = {}): ModelFacts {
  const known = factsOf(model);
  const own = Object.hasOwn(models, model) ? models[model] : undefined;
  const price = own?.price ?? (Object.hasOwn(prices, model) ? prices[model] : undefined) ?? known?.price ?? freePrice(model);
  const contextWindow =
    own?.contextWindow ?? (Object.hasOwn(contextWindows, model) ? contextWindows[model] : undefined) ?? known?.contextWindow;
  return { ...known, ...own, ...(price ? { price } : {}), ...(contextWindow === undefined ? {} : { contextWindow }) };
}

function freePrice(model: string): ModelPrice | undefined {
  return FREE_PROVIDERS.has(model.split('/')[0] ?? '') ? FREE : undefined;
}

/** A dated snapshot (`…-20250929`, `…-2024-08-06`, `…-latest`) has the facts of its undated name. */
function factsOf(model: string): ModelFacts | undefined {
  const undated = model.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/u, '');
  return [model, undated].filter((name) => Object.hasOwn(MODEL_FACTS, name)).map((name) => MODEL_FACTS[name])[0];
}
