import { chooseModel } from '../activities/model-choice.js';
import { commandSandbox } from '../activities/tools/command-sandbox.js';
import { SEARCH_ATTRIBUTES } from '../contracts/search-attributes.js';
import type { LoadedConfig } from './config.js';
import { listSearchAttributes } from './list-search-attributes.js';
import { registerSearchAttributes } from './register-search-attributes.js';
import type { TemporalConnectionOptions } from './temporal-check.js';

/** One thing that was looked at: how it is, and what to do when it is not well. */
export interface Check {
  readonly level: 'ok' | 'warn' | 'fail';
  readonly name: string;
  readonly detail: string;
  readonly advice?: string;
}

/** Which model a run without further words would get, and which keys there are: by name, never by value. */
export function checkModel({ config, keys }: LoadedConfig): Check {
  const chosen = chooseModel({ requested: undefined, agentModel: undefined, config, env: process.env, keys });
  const names = keys.names();
  const found = names.length === 0 ? 'no keys' : `keys: ${names.join(', ')}`;
  if ('model' in chosen) return { level: 'ok', name: 'model', detail: `${chosen.model} (${found})` };
  return { level: 'warn', name: 'model', detail: `none by default (${found})`, advice: chosen.problem };
}

/** How far `run_command` can be shut in on this machine. */
export async function checkSandbox(): Promise<Check> {
  const { kind, shell } = await commandSandbox();
  if (kind === 'namespace')
    return { level: 'ok', name: 'run_command', detail: `${shell} in its own process namespace: nothing outlives a call` };
  const advice = 'allow unprivileged user namespaces, and install util-linux (unshare, setpriv), for the stronger form';
  return {
    level: 'warn',
    name: 'run_command',
    detail: `${shell} in its own process group: a process that leaves the group can outlive a call`,
    advice,
  };
}

/** Whether the namespace knows the search attributes of a run; `fix` registers the missing ones. Never rejects. */
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
        return { level: 'ok', name, detail: added.length === 0 ? 'all registered' : `registered now: ${added.join(', ')}` };
      }
      const known = await listSearchAttributes(connection, server.namespace);
      const missing = Object.keys(SEARCH_ATTRIBUTES).filter((key) => !known.includes(key));
      if (missing.length === 0) return { level: 'ok', name, detail: 'all registered' };
      return {
        level: 'warn',
        name,
        detail: `missing: ${missing.join(', ')}; runs work without them`,
        advice: 'perdure doctor --fix registers them',
      };
    } finally {
      await connection.close();
    }
  } catch (error) {
    const advice = 'ask an administrator of the namespace to register them; runs work without';
    return { level: 'warn', name, detail: error instanceof Error ? error.message : String(error), advice };
  }
}
