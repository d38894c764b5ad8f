import { parseModelRef } from '../contracts/model-ref.js';
import type { Config } from '../define/define-config.js';
import { KNOWN_PROVIDERS, knownProvider } from './providers/known-providers.js';
import { type AccessOptions, providerAccess } from './providers/provider-access.js';

/** What the choice is made from. */
export interface ModelChoice extends AccessOptions {
  readonly requested: string | undefined;
  readonly agentModel: string | undefined;
  readonly config: Pick<Config, 'model' | 'providers' | 'credentials' | 'agents'>;
}

/** The chosen model as `provider/model`, or why there is none. */
export type ChosenModel = { readonly model: string } | { readonly problem: string };

/**
 * Chooses: the request's model, the agent's, the environment's, the config's, or one whose key is there. What is chosen
 * can be called: its provider is known and its key is there. Never throws.
 */
export function chooseModel(choice: ModelChoice): ChosenModel {
  const wanted = choice.requested ?? choice.agentModel ?? fromEnvironment(choice) ?? choice.config.model ?? detected(choice);
  if (wanted === undefined) return { problem: noModel(choice) };
  const ref = parseModelRef(wanted);
  if (!ref) return { problem: `model ${JSON.stringify(wanted.slice(0, 80))}: use provider/model, for example anthropic/claude-sonnet-4-5` };
  const access = providerAccess(ref, choice);
  return access.kind === 'refused' ? { problem: `model ${wanted.slice(0, 200)}: ${access.problem}` } : { model: wanted };
}

/** PERDURE_MODEL, whose provider may stand in PERDURE_MODEL_PROVIDER; a provider alone means the config's or its usual model. */
function fromEnvironment({ env, config }: ModelChoice): string | undefined {
  const { PERDURE_MODEL: model, PERDURE_MODEL_PROVIDER: provider } = env;
  if (!provider) return model || undefined;
  if (!model) return config.model?.startsWith(`${provider}/`) ? config.model : `${provider}/${knownProvider(provider)?.defaultModel ?? ''}`;
  // models of a gateway have slashes in their own names: only a provider's name before the slash says where the model is
  const named = parseModelRef(model)?.provider;
  const isComplete = named !== undefined && (knownProvider(named) !== undefined || Object.hasOwn(config.providers ?? {}, named));
  return isComplete ? model : `${provider}/${model}`;
}

/** The first provider whose key (or, for Ollama, whose address) is set. LLM_API_KEY alone names no provider. */
function detected({ env, keys }: ModelChoice): string | undefined {
  for (const [name, { keyVariable, baseUrlVariable, defaultModel }] of Object.entries(KNOWN_PROVIDERS)) {
    const there = keyVariable ? keys.resolve(keyVariable) : baseUrlVariable && env[baseUrlVariable];
    if (there && defaultModel) return `${name}/${defaultModel}`;
  }
  return undefined;
}

function noModel({ keys }: ModelChoice): string {
  const general = keys.resolve('LLM_API_KEY') ? '; LLM_API_KEY is there: say for whom with PERDURE_MODEL_PROVIDER' : '';
  return `no model: give --model provider/model, or set OPENAI_API_KEY or ANTHROPIC_API_KEY${general}; --model scripted/FILE needs no key`;
}
