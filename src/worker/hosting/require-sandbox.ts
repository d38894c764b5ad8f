import { PerdureError } from '../../contracts/perdure-error.js';
import type { SandboxDefinition } from '../../define/worker/sandbox.js';
import { chooseSandbox, NO_LIMITS, NO_NETWORK_LIMITS, NO_SANDBOX_ADVICE } from '../../process/sandbox/open-sandbox.js';

/**
 * Tries the sandbox that a config names, before a worker starts: a weaker one is no replacement. The default one is tried by the first
 * command. `say` receives a notice about commands that are less limited than by default. Throws PerdureError `SANDBOX` (2) if this machine
 * cannot make the sandbox.
 */
export async function requireSandbox(sandbox: SandboxDefinition = {}, say: (line: string) => void = () => undefined): Promise<void> {
  const { mode, network } = sandbox;
  if (mode !== undefined && mode !== 'none') {
    const { problem } = await chooseSandbox(sandbox);
    if (problem !== undefined) throw new PerdureError('SANDBOX', `${problem}. You can ${NO_SANDBOX_ADVICE}.`, 2);
  }
  if (mode === 'none') say(NO_LIMITS);
  else if (network === 'host') say(NO_NETWORK_LIMITS);
}
