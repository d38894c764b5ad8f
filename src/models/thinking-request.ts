import { MODEL_LIMITS, THINKING_LIMITS } from '../contracts/constants/limits.js';
import { THINKING_LEVELS } from '../contracts/constants/thinking-levels.js';
import { levelOfTokens, tokensOfThinking } from '../contracts/models/thinking-tokens.js';
import type { ThinkingLevel, ThinkingSetting } from '../contracts/schemas/model.js';
import type { ModelFacts } from '../define/model-options.js';
import type { ThinkingOrder } from '../providers/contract/provider.js';
import { modelFacts } from './model-facts.js';

/** The thinking of a request; `order` is undefined for a model that never thinks. Or why the model does not support the setting. */
export type OrderedThinking = { readonly order: ThinkingOrder | undefined } | { readonly problem: string };

/**
 * A setting in the form that a model accepts; for an unsupported one, the problem with the supported levels. A model without known facts
 * gets the setting unchanged. Never throws.
 */
export function thinkingOrder(setting: ThinkingSetting, facts: ModelFacts): OrderedThinking {
  if (facts.thinkingStyle === 'none')
    return setting === 'off' ? { order: undefined } : { problem: 'this model does not support thinking; use off' };
  if (typeof setting === 'number') return orderOfTokens(setting, facts);
  if (!levelsOf(facts).includes(setting)) return { problem: `this model does not support the level ${setting}; ${supported(facts)}` };
  return { order: orderOfLevel(setting, facts) };
}

/** The setting that a model supports, in place of the requested one. */
export interface NearestThinking {
  readonly setting: ThinkingSetting;
  /** The difference to the request, to follow the model's name. @default none */
  readonly notice?: string;
}

/**
 * The setting, or the nearest one that a model supports: the higher of two at the same distance, and off only when nothing else is
 * supported. Never throws.
 */
export function nearestThinking(setting: ThinkingSetting, facts: ModelFacts): NearestThinking {
  if ('order' in thinkingOrder(setting, facts)) return { setting };
  const nearest = nearestSetting(setting, facts);
  return { setting: nearest, notice: `uses thinking ${settingText(nearest)} instead of ${settingText(setting)}` };
}

/**
 * The thinking of a request for a setting, or for the nearest supported one; undefined: none is sent. A model whose only level is off gets
 * off also without a setting: by default it thinks, and then refuses tools. Never throws.
 */
export function nearestOrder(setting: ThinkingSetting | undefined, facts: ModelFacts): ThinkingOrder | undefined {
  if (setting === undefined) return levelsOf(facts).every((level) => level === 'off') ? nearestOrder('off', facts) : undefined;
  const ordered = thinkingOrder(nearestThinking(setting, facts).setting, facts);
  return 'order' in ordered ? ordered.order : undefined;
}

function orderOfLevel(level: ThinkingLevel, facts: ModelFacts): ThinkingOrder {
  if (level === 'off') return { style: 'off' };
  if (facts.thinkingStyle === 'budget') return { style: 'budget', tokens: Math.min(tokensOfThinking(level), budgetBounds(facts).max) };
  return { style: facts.thinkingStyle === 'adaptive' ? 'adaptive' : 'effort', effort: level };
}

function orderOfTokens(tokens: number, facts: ModelFacts): OrderedThinking {
  const { thinkingStyle } = facts;
  if (thinkingStyle === 'effort' || thinkingStyle === 'adaptive')
    return { problem: `this model does not support a number of tokens; ${supported(facts)}` };
  if (thinkingStyle === undefined) return { order: { style: 'budget', tokens } };
  const { min, max } = budgetBounds(facts);
  if (tokens < min) return { problem: `${tokens} tokens are below the minimum of ${min}` };
  if (tokens > max) return { problem: `${tokens} tokens are above the maximum of this model, ${max}` };
  return { order: { style: 'budget', tokens } };
}

/** The answer needs tokens after the thinking. */
function budgetBounds({ outputTokensMax = Number.POSITIVE_INFINITY }: ModelFacts): { readonly min: number; readonly max: number } {
  const min = THINKING_LIMITS.budgetTokensMin;
  return { min, max: Math.max(min, outputTokensMax - MODEL_LIMITS.outputTokensMin) };
}

/** In order, least first, whatever the order of the facts. */
function levelsOf({ thinkingStyle, thinkingLevels }: ModelFacts): readonly ThinkingLevel[] {
  if (thinkingLevels) return THINKING_LEVELS.filter((level) => thinkingLevels.includes(level));
  return thinkingStyle === 'adaptive' ? THINKING_LEVELS.filter((level) => level !== 'minimal') : THINKING_LEVELS;
}

function supported(facts: ModelFacts): string {
  const levels = levelsOf(facts).join(', ');
  return facts.thinkingStyle === 'budget' ? `supported: ${levels}, or a number of tokens` : `supported: ${levels}`;
}

function nearestSetting(setting: ThinkingSetting, facts: ModelFacts): ThinkingSetting {
  if (facts.thinkingStyle === 'none') return 'off';
  if (typeof setting !== 'number') return nearestLevel(setting, facts);
  if (facts.thinkingStyle !== 'budget') return nearestLevel(levelOfTokens(setting), facts);
  const { min, max } = budgetBounds(facts);
  return Math.min(Math.max(setting, min), max);
}

function nearestLevel(level: ThinkingLevel, facts: ModelFacts): ThinkingLevel {
  const distance = (other: ThinkingLevel): number => Math.abs(THINKING_LEVELS.indexOf(other) - THINKING_LEVELS.indexOf(level));
  const levels = levelsOf(facts).filter((other) => other !== 'off');
  // the one that thinks more comes first, and stays there among those that are as near
  return levels.toReversed().toSorted((a, b) => distance(a) - distance(b))[0] ?? 'off';
}

function settingText(setting: ThinkingSetting): string {
  return typeof setting === 'number' ? `${setting} tokens` : setting;
}

/**
 * Why a model does not support a setting: with the supported levels, and with the other API of the same model when that supports the
 * level. Undefined when it does. Never throws.
 */
export function thinkingProblem(setting: ThinkingSetting, model: string, facts: ModelFacts): string | undefined {
  const order = thinkingOrder(setting, facts);
  if (!('problem' in order)) return undefined;
  const elsewhere = overResponses(model);
  const hasIt = elsewhere !== undefined && modelFacts(elsewhere).thinkingLevels?.some((level) => level === setting);
  return hasIt ? `${order.problem}; ${elsewhere} supports it` : order.problem;
}

/** OpenAI's newer models think and call tools in one request at one of its two APIs only. */
function overResponses(model: string): string | undefined {
  return model.startsWith('openai/') ? model.replace('openai/', 'openai-responses/') : undefined;
}
