import { isBareModel, parseModelRef } from '../../contracts/models/model-ref.js';
import type { ThinkingSetting } from '../../contracts/schemas/model.js';
import type { Config } from '../../define/define-config.js';
import { modelFacts } from '../../models/model-facts.js';
import { thinkingProblem } from '../../models/thinking-request.js';
import { providerNameProblem } from '../../providers/access/known-providers.js';

/** Which models the config's own fields name wrongly, each with its path. */
export function modelProblems(config: Config): string[] {
  const { model, fallbacks = [], thinking, models = {}, prices = {}, contextWindows = {}, providers = {} } = config;
  const names = Object.keys(providers);
  const facts = { models, prices, contextWindows };
  return [
    ...wishProblems('model', model, names),
    ...fallbacks.flatMap((name, index) => wishProblems(`fallbacks.${index}`, name, names)),
    ...thinkingProblems('thinking', { model, thinking }, config),
    ...Object.entries(facts).flatMap(([field, entries]) =>
      Object.keys(entries).flatMap((name) => referenceProblems(`${field}.${name}`, name, names)),
    ),
    ...Object.entries(models).flatMap(([name, own]) => [
      ...thinkingProblems(`models.${name}.thinking`, { model: name, thinking: own.thinking }, config),
      ...timesProblems(`models.${name}.times`, own.times),
    ]),
  ];
}

/** Why a wish names no model: no provider of that name. A bare id is looked up when a run begins. */
export function modelNameProblem(name: string, providerNames: readonly string[]): string | undefined {
  return isBareModel(name) ? undefined : referenceProblem(name, providerNames);
}

/** The problems of a model that somebody may wish for, as `provider/model` or as a bare id. */
export function wishProblems(path: string, model: string | undefined, providerNames: readonly string[]): string[] {
  const problem = model === undefined ? undefined : modelNameProblem(model, providerNames);
  return problem === undefined ? [] : [`${path}: ${problem}`];
}

/** The problems of a model where its provider must be said too. */
export function referenceProblems(path: string, model: string | undefined, providerNames: readonly string[]): string[] {
  const problem = model === undefined ? undefined : referenceProblem(model, providerNames);
  return problem === undefined ? [] : [`${path}: ${problem}`];
}

/** A model and how much it is to think, as they stand beside each other. */
interface ThinkingWish {
  readonly model?: string | undefined;
  readonly thinking?: ThinkingSetting | undefined;
}

/** A level that the model right beside it does not have. */
export function thinkingProblems(path: string, { model, thinking }: ThinkingWish, config: Config): string[] {
  if (model === undefined || thinking === undefined) return [];
  const problem = thinkingProblem(thinking, model, modelFacts(model, config));
  return problem === undefined ? [] : [`${path}: BAD_THINKING ${model}: ${problem}`];
}

function referenceProblem(model: string, providerNames: readonly string[]): string | undefined {
  const ref = parseModelRef(model);
  return ref ? providerNameProblem(ref.provider, providerNames) : `use provider/model, got ${JSON.stringify(model.slice(0, 80))}`;
}

type Times = NonNullable<NonNullable<Config['models']>[string]['times']>;

/** A wait that is longer than the whole call would never end it. */
function timesProblems(path: string, times: Times = {}): string[] {
  const { totalMs = Number.POSITIVE_INFINITY } = times;
  return (['idleMs', 'firstByteMs'] as const).flatMap((field) => {
    const ms = times[field] ?? 0;
    return ms > totalMs ? [`${path}.${field}: ${ms} is above totalMs ${totalMs}`] : [];
  });
}
