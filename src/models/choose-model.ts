import { FAILOVER_LIMITS } from '../contracts/constants/limits.js';
import { isBareModel, parseModelRef } from '../contracts/models/model-ref.js';
import type { Config } from '../define/define-config.js';
import { KNOWN_PROVIDERS, knownProvider, providerNameProblem } from '../providers/access/known-providers.js';
import { providerAccess } from '../providers/access/provider-access.js';
import type { AccessOptions } from '../providers/contract/access-options.js';
import { providersToAsk } from './find-bare-model.js';

/** The inputs of the choice. */
export interface ModelChoice extends AccessOptions {
  readonly requested?: string | undefined;
  readonly agentModel?: string | undefined;
  /** The request's, else the agent's; absent: those of the environment, else the config's. */
  readonly fallbacks?: readonly string[] | undefined;
  readonly config: Pick<Config, 'model' | 'fallbacks' | 'resolve' | 'providers' | 'credentials' | 'agents'>;
}

/** The chosen model, as `provider/model` or as a bare id to search for; or why there is none. */
export type ChosenModel = { readonly model: string } | { readonly problem: string };

/**
 * Chooses the request's model, the agent's, the environment's, the config's, or the default model of a provider with a configured key.
 * The chosen model can be called: its provider is known and has a key, or it is a bare id and a provider can be searched. Sends no request.
 * Never throws.
 */
export function chooseModel(choice: ModelChoice): ChosenModel {
  const problems: string[] = [];
  for (const model of modelsToTry(choice)) {
    const problem = modelProblem(model, choice);
    if (problem === undefined) return { model };
    problems.push(problem);
  }
  return { problem: problems.length === 0 ? noModel(choice) : joinProblems(problems) };
}

/** The candidates in order; the first one that can be called is chosen. Under `strict` there is at most one. */
export function modelsToTry(choice: ModelChoice): readonly string[] {
  const wanted = wantedModel(choice);
  if (choice.config.resolve !== 'first-available') return wanted === undefined ? [] : [wanted];
  const others = [wanted, ...fallbacksOf(choice), detected(choice)];
  return [...new Set(others.filter((model) => model !== undefined))];
}

/** The fallbacks of the request or the agent, else of PERDURE_FALLBACKS, else of the config; each once. */
export function fallbacksOf({ fallbacks, env, config }: ModelChoice): readonly string[] {
  const fromEnv = (env['PERDURE_FALLBACKS'] ?? '').split(',').flatMap((name) => name.trim() || []);
  const found = fallbacks ?? (fromEnv.length > 0 ? fromEnv : (config.fallbacks ?? []));
  return [...new Set(found)].slice(0, FAILOVER_LIMITS.fallbacksMax);
}

/** The provider of a bare id that no provider lists, under `first-available`. */
export function defaultProvider(choice: ModelChoice): string | undefined {
  const { PERDURE_MODEL_PROVIDER: named } = choice.env;
  const usual = [choice.config.model, detected(choice)].flatMap((model) => (model === undefined ? [] : (parseModelRef(model) ?? [])));
  return named || usual[0]?.provider;
}

/** Why a model cannot be called; undefined when it can, or when providers must be searched for it. Never throws. */
export function modelProblem(model: string, options: AccessOptions): string | undefined {
  const shown = JSON.stringify(model.slice(0, 80));
  if (isBareModel(model)) {
    if (providersToAsk(options).length > 0) return undefined;
    return `model ${shown}: no configured provider to search. Use provider/model, or set a key.`;
  }
  const ref = parseModelRef(model);
  if (!ref) return providerAloneProblem(model, options) ?? `model ${shown}: use provider/model, for example anthropic/claude-sonnet-5`;
  const access = providerAccess(ref, options);
  return access.kind === 'refused' ? `model ${model.slice(0, 200)}: ${access.problem}` : undefined;
}

/** The problem of a provider without a model, as PERDURE_MODEL_PROVIDER may set it: it is unknown, or has no default model. */
function providerAloneProblem(model: string, { config, env }: AccessOptions): string | undefined {
  const provider = env['PERDURE_MODEL_PROVIDER'];
  if (!provider || model !== `${provider}/`) return undefined;
  const unknown = providerNameProblem(provider, Object.keys(config.providers ?? {}));
  return `PERDURE_MODEL_PROVIDER: ${unknown ?? `${provider} has no default model. Set PERDURE_MODEL.`}`;
}

/** Several problems in one text. */
export function joinProblems(problems: readonly string[]): string {
  return problems.map((problem, index) => (index < problems.length - 1 ? problem.replace(/\.$/u, '') : problem)).join('; ');
}

/** The problem when no model is configured: how to set one. */
export function noModel({ keys }: Pick<ModelChoice, 'keys'>): string {
  const general = keys.resolve('LLM_API_KEY') ? ' LLM_API_KEY is set: select its provider with PERDURE_MODEL_PROVIDER.' : '';
  return `no model is configured. Use --model provider/model ('perdure models --all' lists them), or set OPENAI_API_KEY or ANTHROPIC_API_KEY.${general} --model scripted/FILE needs no key.`;
}

function wantedModel(choice: ModelChoice): string | undefined {
  return choice.requested ?? choice.agentModel ?? fromEnvironment(choice) ?? choice.config.model ?? detected(choice);
}

/** PERDURE_MODEL, with an optional provider in PERDURE_MODEL_PROVIDER. A provider alone means the config's model of it, or its default model. */
function fromEnvironment({ env, config }: ModelChoice): string | undefined {
  const { PERDURE_MODEL: model, PERDURE_MODEL_PROVIDER: provider } = env;
  if (!provider) return model || undefined;
  if (!model) return config.model?.startsWith(`${provider}/`) ? config.model : `${provider}/${knownProvider(provider)?.defaultModel ?? ''}`;
  // models of a gateway have slashes in their own names: only a provider's name before the slash says where the model is
  const named = parseModelRef(model)?.provider;
  const isComplete = named !== undefined && (knownProvider(named) !== undefined || Object.hasOwn(config.providers ?? {}, named));
  return isComplete ? model : `${provider}/${model}`;
}

/** The first provider whose key (or, for a local one, whose address) is set. LLM_API_KEY alone names no provider. */
function detected({ env, keys }: Pick<ModelChoice, 'env' | 'keys'>): string | undefined {
  for (const [name, { keyVariable, baseUrlVariable, defaultModel }] of Object.entries(KNOWN_PROVIDERS)) {
    const there = keyVariable ? keys.resolve(keyVariable) : baseUrlVariable && env[baseUrlVariable];
    if (there && defaultModel) return `${name}/${defaultModel}`;
  }
  return undefined;
}
