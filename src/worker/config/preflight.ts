import { DEFAULT_AGENT } from '../../activities/prepare/find-agent.js';
import { isBareModel, parseModelRef } from '../../contracts/models/model-ref.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { RunInput } from '../../contracts/schemas/run.js';
import { didYouMean } from '../../contracts/text/did-you-mean.js';
import { chooseModel, fallbacksOf, type ModelChoice } from '../../models/choose-model.js';
import { chooseRoute } from '../../models/choose-route.js';
import { namesModel } from '../../providers/contract/access-options.js';
import { modelNameProblem, thinkingProblems } from './checks/check-models.js';
import type { LoadedConfig } from './load-config.js';

/** The fields of a run's input that depend on the config. */
export type CheckedInput = Pick<RunInput, 'agent' | 'model' | 'fallbacks' | 'thinking'>;

/**
 * Rejects a run that can only fail, before anything is started: an unknown agent, a missing model or key, a model name that no provider has, a fallback of an unknown
 * provider, an unsupported thinking level, an unreadable script. Throws PerdureError (exit 2). The worker checks again, because it may
 * run with a different configuration.
 */
export async function checkRun({ config, keys, env }: LoadedConfig, input: CheckedInput): Promise<void> {
  const agents = { default: DEFAULT_AGENT, ...config.agents };
  const name = input.agent ?? 'default';
  const agent = Object.hasOwn(agents, name) ? agents[name as keyof typeof agents] : undefined;
  if (!agent) {
    const names = Object.keys(agents);
    const shown = JSON.stringify(name.slice(0, 80));
    throw new PerdureError('UNKNOWN_AGENT', `no agent named ${shown}${didYouMean(name, names)}; available: ${names.join(', ')}`, 2);
  }
  if (agent.executor && agent.executor.kind !== 'llm') return;
  const fallbacks = input.fallbacks ?? agent.fallbacks;
  const choice = { requested: input.model, agentModel: agent.model, fallbacks, config, env, keys };
  const chosen = chooseModel(choice);
  if ('problem' in chosen) throw new PerdureError('NO_MODEL', chosen.problem, 2);
  const problems = [...fallbackProblems(choice, input), ...thinkingOf(chosen.model, { config, thinking: input.thinking })];
  if (problems.length > 0) throw new PerdureError('BAD_OPTION', problems.join('; '), 2);
  await checkScriptFile(chosen.model, config);
  if (isBareModel(chosen.model)) await checkBareModel(choice);
}

/** Checks the fallbacks of the input or the environment. Those of the config were checked with it. */
function fallbackProblems(choice: ModelChoice, { fallbacks }: CheckedInput): string[] {
  if (fallbacks === undefined && choice.fallbacks !== undefined) return [];
  const from = fallbacks === undefined ? 'PERDURE_FALLBACKS' : 'fallback';
  const problems = fallbacksOf(choice).flatMap((name) => modelNameProblem(name, Object.keys(choice.config.providers ?? {})) ?? []);
  return problems.length > 0 ? [`${from}: ${problems.join('; ')}`] : [];
}

/** Skips a bare name, whose provider is unknown until the run starts, and `first-available`, which accepts the nearest level. */
function thinkingOf(model: string, { config, thinking }: Pick<LoadedConfig, 'config'> & Pick<CheckedInput, 'thinking'>): string[] {
  if (isBareModel(model) || config.resolve === 'first-available') return [];
  return thinkingProblems('thinking', { model, thinking }, config);
}

/** Looks a bare name up at the providers, as the worker will. */
async function checkBareModel(choice: ModelChoice & Pick<LoadedConfig, 'config'>): Promise<void> {
  const found = await chooseRoute({ ...choice, needsPrice: false }, choice);
  if ('problem' in found) throw new PerdureError('NO_MODEL', found.problem, 2);
}

async function checkScriptFile(model: string, config: LoadedConfig['config']): Promise<void> {
  const ref = parseModelRef(model);
  if (ref?.provider !== 'scripted') return;
  const { readScript, readScriptWithin } = await import('../../providers/scripted/script-file.js');
  try {
    await (namesModel(config, model) ? readScript(ref.model) : readScriptWithin(process.cwd(), ref.model));
  } catch (error) {
    const message = error instanceof Error ? error.message.replace(/^BAD_SCRIPT: /u, '') : String(error);
    throw new PerdureError('BAD_SCRIPT', message, 2, { cause: error });
  }
}
