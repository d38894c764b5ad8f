import type { ModelPrice } from '../contracts/model.js';
import { MODEL_FACTS, type ModelFacts } from './data/prices.js';

const FREE: ModelPrice = { input: 0, output: 0 };

/** Providers whose models cost nothing here: they run on this machine or play a script. */
const FREE_PROVIDERS = new Set(['scripted', 'ollama']);

/** The price of a model: the config's, else the data file's, else nothing for local ones; undefined when it is unknown. */
export function priceOf(model: string, overrides: Readonly<Record<string, ModelPrice>> = {}): ModelPrice | undefined {
  if (Object.hasOwn(overrides, model)) return overrides[model];
  return factsOf(model)?.price ?? (FREE_PROVIDERS.has(model.split('/')[0] ?? '') ? FREE : undefined);
}

/** The context window of a model in tokens: the config's, else the data file's; undefined when it is unknown. */
export function contextWindowOf(model: string, overrides: Readonly<Record<string, number>> = {}): number | undefined {
  return Object.hasOwn(overrides, model) ? overrides[model] : factsOf(model)?.contextWindow;
}

/** A dated snapshot (`…-20250929`, `…-2024-08-06`, `…-latest`) has the facts of its undated name. */
function factsOf(model: string): ModelFacts | undefined {
  const undated = model.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/u, '');
  return [model, undated].filter((name) => Object.hasOwn(MODEL_FACTS, name)).map((name) => MODEL_FACTS[name])[0];
}
