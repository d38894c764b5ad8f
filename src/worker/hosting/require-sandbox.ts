import { PerdureError } from '../../contracts/perdure-error.js';
import type { Config } from '../../define/define-config.js';
import { chooseSandbox, NO_LIMITS, NO_NETWORK_LIMITS, NO_SANDBOX_ADVICE } from '../../process/sandbox/open-sandbox.js';
import { processGroupNotice } from './process-groups.js';

/**
 * Tries the sandbox that a config names, before a worker starts: a weaker one is no replacement. The default one is tried by the first
 * command. `say` receives a notice about commands that are less limited than by default, and about processes that can outlive the worker.
 * Throws PerdureError `SANDBOX` (2) if this machine cannot make the sandbox.
 */
export async function requireSandbox(
  config: Pick<Config, 'agents' | 'sandbox'>,
  say: (line: string) => void = () => undefined,
): Promise<void> {
  const { mode, network } = config.sandbox ?? {};
  if (mode !== undefined && mode !== 'none') {
    const { problem } = await chooseSandbox(config.sandbox ?? {});
    if (problem !== undefined) throw new PerdureError('SANDBOX', `${problem}. You can ${NO_SANDBOX_ADVICE}.`, 2);
  }
  if (mode === 'none') say(NO_LIMITS);
  else if (network === 'host') say(NO_NETWORK_LIMITS);
  const notice = await processGroupNotice(config);
  if (notice !== undefined) say(notice);
}
