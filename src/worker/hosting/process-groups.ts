import type { Config } from '../../define/define-config.js';
import { commandSandbox } from '../../process/command-sandbox.js';

/**
 * The notice about child processes of a config that only a process group keeps together, because this machine makes no process namespace.
 * Undefined if a namespace holds them, or the config starts none. Never rejects.
 */
export async function processGroupNotice({ agents = {}, sandbox }: Pick<Config, 'agents' | 'sandbox'>): Promise<string | undefined> {
  const executors = Object.keys(agents).filter((name) => agents[name]?.executor?.kind === 'subprocess');
  const whose = [
    ...(executors.length > 0 ? [`of executors (${executors.join(', ')})`] : []),
    ...(sandbox?.mode === 'none' ? ['of commands'] : []),
  ];
  if (whose.length === 0) return undefined;
  const { kind, problem } = await commandSandbox();
  if (kind === 'namespace') return undefined;
  return `processes ${whose.join(' and ')} can leave their process group with setsid and outlive the worker: this machine makes no process namespace (${problem})`;
}
