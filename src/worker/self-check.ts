import { SEARCH_ATTRIBUTES } from '../contracts/constants/search-attributes.js';
import { isBareModel } from '../contracts/models/model-ref.js';
import { chooseModel, fallbacksOf } from '../models/choose-model.js';
import { providersToAsk } from '../models/find-bare-model.js';
import { chooseSandbox, NO_LIMITS, NO_NETWORK_LIMITS, NO_SANDBOX_ADVICE } from '../process/sandbox/open-sandbox.js';
import { keyedProvidersText, keysOfConfig } from '../providers/access/key-references.js';
import type { LoadedConfig } from './config/load-config.js';
import type { TemporalConnectionOptions } from './connect/check-connection.js';
import { processGroupNotice } from './hosting/process-groups.js';
import { listSearchAttributes, registerSearchAttributes } from './search-attributes.js';
import { fullStateDisk, isOpenToOthers, stateFolder } from './state-folder/state-folder.js';
import { payloadStoreOf } from './storage/payload-store.js';

/** The result of one check, with advice if it did not pass. */
export interface Check {
  readonly level: 'ok' | 'warn' | 'fail';
  readonly name: string;
  readonly detail: string;
  readonly advice?: string;
}

/** Checks the default model and its fallbacks. Sends no request to a provider. */
export function checkModel({ config, keys, env }: LoadedConfig): Check {
  const choice = { config, keys, env };
  const chosen = chooseModel(choice);
  if ('problem' in chosen) return { level: 'warn', name: 'model', detail: 'none', advice: chosen.problem };
  const others = fallbacksOf(choice).filter((model) => model !== chosen.model);
  const lookUp = isBareModel(chosen.model) ? ` (each run searches: ${providersToAsk(choice).join(', ')})` : '';
  return { level: 'ok', name: 'model', detail: `${[chosen.model, ...others].join(', then ')}${lookUp}` };
}

/** Checks the configured keys. Shows names of variables and files, never values. Warns about keys that cannot be used. */
export function checkKeys({ config, keys }: LoadedConfig): Check {
  const name = 'keys';
  const general = keys.resolve('LLM_API_KEY') === undefined ? [] : ['LLM_API_KEY as fallback'];
  const found = [keyedProvidersText({ config, keys }), ...general].filter((text) => text !== '').join(', ');
  const problems = keysOfConfig(config).flatMap((reference) => keys.problem(reference) ?? []);
  const detail = found === '' ? 'no keys configured' : found;
  return problems.length === 0 ? { level: 'ok', name, detail } : { level: 'warn', name, detail, advice: [...new Set(problems)].join(', ') };
}

/** Checks the sandbox of `run_command` on this machine. */
export async function checkSandbox({ config }: Pick<LoadedConfig, 'config'>): Promise<Check> {
  const name = 'run_command';
  const { mode, network = 'none' } = config.sandbox ?? {};
  if (mode === 'none') {
    return { level: 'warn', name, detail: NO_LIMITS, advice: "remove sandbox.mode 'none' from the config" };
  }
  const { sandbox, problem } = await chooseSandbox(config.sandbox ?? {});
  // a worker whose config names the mode does not start without it
  const level = config.sandbox?.mode === undefined ? 'warn' : 'fail';
  if (!sandbox) return { level, name, detail: `refused: ${problem}`, advice: NO_SANDBOX_ADVICE };
  const reach = typeof network === 'object' ? `network: ${network.allow.join(', ')}` : `network: ${network}`;
  const detail = `${sandbox.shell} in a sandbox of ${sandbox.kind}; ${reach}`;
  if (network !== 'host') return { level: 'ok', name, detail };
  return { level: 'warn', name, detail: `${detail}; ${NO_NETWORK_LIMITS}`, advice: 'list the hosts: sandbox.network.allow' };
}

/** Checks what keeps the child processes of a config together. Undefined if a process namespace does, or the config starts none. */
export async function checkProcessGroups({ config }: Pick<LoadedConfig, 'config'>): Promise<Check | undefined> {
  const detail = await processGroupNotice(config);
  if (detail === undefined) return undefined;
  return { level: 'warn', name: 'child processes', detail, advice: 'install util-linux (unshare, setpriv), and allow user namespaces' };
}

/** Checks the bucket or folder of artifacts, which a worker of this config opens when it starts. Throws PerdureError `STORE_UNUSABLE` (2, 5). */
export async function checkArtifacts(config: Pick<LoadedConfig, 'config' | 'keys'>, stateDir: string): Promise<Check> {
  const store = payloadStoreOf(config, stateDir);
  await store.id();
  return { level: 'ok', name: 'artifacts', detail: store.place };
}

/** Checks that nobody but its owner can look into the state folder, which has prompts, answers and the database of the embedded server. */
export async function checkStateFolder(stateDir: string): Promise<Check> {
  const name = 'state folder';
  const { dir } = stateFolder(stateDir);
  const full = await fullStateDisk(dir);
  if (full !== undefined) return { level: 'fail', name, detail: full, advice: 'free space: calls of all runs wait for it' };
  if (!(await isOpenToOthers(dir))) return { level: 'ok', name, detail: dir };
  return { level: 'warn', name, detail: `other users can look into ${dir}`, advice: `let its owner run: chmod 700 ${dir}` };
}

/** Checks that the search attributes of runs are registered. `fix` registers missing ones. Never rejects. */
export async function checkSearchAttributes(
  server: { readonly connectionOptions: TemporalConnectionOptions; readonly namespace: string },
  { fix }: { readonly fix: boolean },
): Promise<Check> {
  const name = 'search attributes';
  const { Connection } = await import('@temporalio/client');
  try {
    const connection = await Connection.connect(server.connectionOptions);
    try {
      if (fix) {
        const { added } = await registerSearchAttributes(connection, server.namespace);
        return { level: 'ok', name, detail: added.length === 0 ? 'all registered' : `registered: ${added.join(', ')}` };
      }
      const known = await listSearchAttributes(connection, server.namespace);
      const missing = Object.keys(SEARCH_ATTRIBUTES).filter((key) => !known.includes(key));
      if (missing.length === 0) return { level: 'ok', name, detail: 'all registered' };
      return {
        level: 'warn',
        name,
        detail: `missing: ${missing.join(', ')}; runs work without them`,
        advice: "register them with 'perdure doctor --fix'",
      };
    } finally {
      await connection.close();
    }
  } catch (error) {
    const advice = 'ask an administrator of the namespace to register them; runs work without them';
    return { level: 'warn', name, detail: error instanceof Error ? error.message : String(error), advice };
  }
}
