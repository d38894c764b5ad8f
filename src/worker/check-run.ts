import { chooseModel } from '../activities/model-choice.js';
import { DEFAULT_AGENT } from '../activities/prepare-run.js';
import { ModelError } from '../activities/providers/model-error.js';
import { createProviderFor } from '../activities/providers/registry.js';
import { PerdureError } from '../contracts/coded-error.js';
import { parseModelRef } from '../contracts/model-ref.js';
import { didYouMean } from '../contracts/nearest-name.js';
import type { RunInput } from '../contracts/run.js';
import type { LoadedConfig } from './config.js';

/**
 * Refuses a run that could only fail, before anything is started: an agent that is nowhere, no model, a model without its key, a
 * script that cannot be read. Throws PerdureError (exit 2). The worker checks again; it may run with another configuration.
 */
export async function checkRun({ config, keys }: LoadedConfig, input: Pick<RunInput, 'agent' | 'model'>): Promise<void> {
  const agents = { default: DEFAULT_AGENT, ...config.agents };
  const name = input.agent ?? 'default';
  const agent = Object.hasOwn(agents, name) ? agents[name as keyof typeof agents] : undefined;
  if (!agent) {
    const names = Object.keys(agents);
    const shown = JSON.stringify(name.slice(0, 80));
    throw new PerdureError('UNKNOWN_AGENT', `no agent named ${shown}${didYouMean(name, names)}; there are: ${names.join(', ')}`, 2);
  }
  const chosen = chooseModel({ requested: input.model, agentModel: agent.model, config, env: process.env, keys });
  if ('problem' in chosen) throw new PerdureError('NO_MODEL', chosen.problem, 2);
  checkProvider(chosen.model, { config, keys });
  await checkScriptFile(chosen.model);
}

function checkProvider(model: string, { config, keys }: Pick<LoadedConfig, 'config' | 'keys'>): void {
  try {
    createProviderFor({ config, env: process.env, keys })(model);
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    throw new PerdureError(error.type === 'Model.Auth' ? 'NO_KEY' : 'NO_MODEL', error.message, 2, { cause: error });
  }
}

async function checkScriptFile(model: string): Promise<void> {
  const ref = parseModelRef(model);
  if (ref?.provider !== 'scripted') return;
  const { readScript } = await import('../activities/providers/script-file.js');
  try {
    await readScript(ref.model);
  } catch (error) {
    const message = error instanceof Error ? error.message.replace(/^BAD_SCRIPT: /u, '') : String(error);
    throw new PerdureError('BAD_SCRIPT', message, 2, { cause: error });
  }
}
