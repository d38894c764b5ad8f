import { isBareModel } from '../contracts/models/model-ref.js';
import type { ThinkingSetting } from '../contracts/schemas/model.js';
import { defaultProvider, fallbacksOf, joinProblems, type ModelChoice, modelProblem, modelsToTry, noModel } from './choose-model.js';
import { type BareModelOptions, type FoundModel, findBareModel } from './find-bare-model.js';
import { modelFacts } from './model-facts.js';
import { type ResolvedRoute, type RouteOptions, resolveRoute } from './resolve-route.js';

/** The model options of a run. */
export interface RouteChoice {
  readonly requested?: string | undefined;
  readonly agentModel?: string | undefined;
  /** The request's, else the agent's. */
  readonly fallbacks?: readonly string[] | undefined;
  readonly thinking?: ThinkingSetting | undefined;
  /** True when the run has a cost limit: a model of unknown price cannot keep it. */
  readonly needsPrice: boolean;
}

/** Options of `chooseRoute`; the signal aborts its requests to providers. */
export type ChooseRouteOptions = RouteOptions & Pick<BareModelOptions, 'signal'>;

/**
 * The models of a run: the chosen one, then its fallbacks. Bare ids are looked up at their providers. Under `first-available` the first
 * model that can be called takes the place of those before it, with a notice. Never throws, but for the reason of an aborted signal.
 */
export async function chooseRoute(wishes: RouteChoice, options: ChooseRouteOptions): Promise<ResolvedRoute> {
  const choice: ModelChoice = { ...wishes, ...options };
  const first = await firstCallable(choice, wishes, options);
  if ('problem' in first) return first;
  const all = fallbacksOf(choice);
  // of a replacement, those before it were tried in vain
  const left = first.isReplacement ? all.slice(all.indexOf(first.wanted) + 1) : all;
  const others = await nameFallbacks(left, choice, options);
  const { thinking, needsPrice } = wishes;
  const { model, isReplacement } = first;
  const resolved = resolveRoute({ model, isReplacement, fallbacks: others.models, thinking, needsPrice }, options);
  return 'problem' in resolved ? resolved : { ...resolved, notices: [...first.notices, ...others.notices, ...resolved.notices] };
}

interface FirstModel {
  /** As it stood among the wishes. */
  readonly wanted: string;
  readonly model: string;
  readonly isReplacement: boolean;
  readonly notices: readonly string[];
}

async function firstCallable(
  choice: ModelChoice,
  { needsPrice }: RouteChoice,
  options: ChooseRouteOptions,
): Promise<FirstModel | { readonly problem: string }> {
  const problems: string[] = [];
  for (const wanted of modelsToTry(choice)) {
    const isReplacement = problems.length > 0;
    const named = await nameModel(wanted, choice, options);
    const problem = 'problem' in named ? named.problem : cannotTake(named.model, { needsPrice: needsPrice && isReplacement }, options);
    if ('model' in named && problem === undefined) {
      const replaced = isReplacement ? [`using ${named.model} instead: ${joinProblems(problems)}`] : [];
      return { wanted, model: named.model, isReplacement, notices: [...replaced, ...named.notices] };
    }
    problems.push(problem ?? '');
  }
  return { problem: problems.length === 0 ? noModel(choice) : joinProblems(problems) };
}

/** A replacement of the requested model must also keep the run's cost limit. */
function cannotTake(model: string, { needsPrice }: { readonly needsPrice: boolean }, options: ChooseRouteOptions): string | undefined {
  if (needsPrice && !modelFacts(model, options.config).price) return `model ${model}: its price is unknown, and the run has a cost limit`;
  return modelProblem(model, options);
}

/** Under `first-available`, a bare id that no provider lists belongs to the default provider. */
async function nameModel(wanted: string, choice: ModelChoice, options: ChooseRouteOptions): Promise<FoundModel> {
  if (!isBareModel(wanted)) return { model: wanted, notices: [] };
  const found = await findBareModel(wanted, options);
  const provider = choice.config.resolve === 'first-available' ? defaultProvider(choice) : undefined;
  if ('model' in found || provider === undefined) return found;
  const model = `${provider}/${wanted}`;
  return { model, notices: [`using ${model}: ${found.problem}`] };
}

/** The fallbacks as `provider/model`, without those that were not found. */
async function nameFallbacks(
  wanted: readonly string[],
  choice: ModelChoice,
  options: ChooseRouteOptions,
): Promise<{ readonly models: readonly string[]; readonly notices: readonly string[] }> {
  const models: string[] = [];
  const notices: string[] = [];
  for (const name of wanted) {
    const named = await nameModel(name, choice, options);
    if ('model' in named) models.push(named.model);
    notices.push(...('model' in named ? named.notices : [`fallback left out: ${named.problem}`]));
  }
  return { models, notices };
}
