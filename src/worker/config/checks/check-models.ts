import { isBareModel, parseModelRef } from '../../../contracts/models/model-ref.js';
import type { ThinkingSetting } from '../../../contracts/schemas/model.js';
import type { Config } from '../../../define/define-config.js';
import { modelFacts } from '../../../models/model-facts.js';
import { thinkingProblem } from '../../../models/thinking-request.js';
import { providerNameProblem } from '../../../providers/access/known-providers.js';

/** Checks the models that a config names at its top level. Returns each problem with its path. */
export function modelProblems(config: Config): string[] {
  const { model, fallbacks = [], thinking, models = {}, prices = {}, contextWindows = {}, providers = {} } = config;
  const names = Object.keys(providers);
  const facts = { models, prices, contextWindows };
  return [
    ...modelProblem('model', model, names),
    ...fallbacks.flatMap((name, index) => modelProblem(`fallbacks.${index}`, name, names)),
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

/** The problem of a model name with an unknown provider. A bare name is looked up when a run starts. */
export function modelNameProblem(name: string, providerNames: readonly string[]): string | undefined {
  return isBareModel(name) ? undefined : referenceProblem(name, providerNames);
}

/** The problem, with its path, of a model given as `provider/model` or as a bare name. */
export function modelProblem(path: string, model: string | undefined, providerNames: readonly string[]): string[] {
  const problem = model === undefined ? undefined : modelNameProblem(model, providerNames);
  return problem === undefined ? [] : [`${path}: ${problem}`];
}

/** The problem, with its path, of a model that must be given as `provider/model`. */
export function referenceProblems(path: string, model: string | undefined, providerNames: readonly string[]): string[] {
  const problem = model === undefined ? undefined : referenceProblem(model, providerNames);
  return problem === undefined ? [] : [`${path}: ${problem}`];
}

/** A model and the thinking level set beside it. */
interface ModelWithThinking {
  readonly model?: string | undefined;
  readonly thinking?: ThinkingSetting | undefined;
}

/** The problem, with its path, of a thinking level that the model does not support. */
export function thinkingProblems(path: string, { model, thinking }: ModelWithThinking, config: Config): string[] {
  if (model === undefined || thinking === undefined) return [];
  const problem = thinkingProblem(thinking, model, modelFacts(model, config));
  return problem === undefined ? [] : [`${path}: BAD_THINKING ${model}: ${problem}`];
}

function referenceProblem(model: string, providerNames: readonly string[]): string | undefined {
  const ref = parseModelRef(model);
  return ref ? providerNameProblem(ref.provider, providerNames) : `use provider/model, got ${JSON.stringify(model.slice(0, 80))}`;
}

type Times = NonNullable<NonNullable<Config['models']>[string]['times']>;

/** A timeout above the total time of the call would never apply. */
function timesProblems(path: string, times: Times = {}): string[] {
  const { totalMs = Number.POSITIVE_INFINITY } = times;
  return (['idleMs', 'firstByteMs'] as const).flatMap((field) => {
    const ms = times[field] ?? 0;
    return ms > totalMs ? [`${path}.${field}: ${ms} is above totalMs ${totalMs}`] : [];
  });
}
