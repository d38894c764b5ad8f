import { Interrupts } from '../../../src/cli/host/interrupts.js';
import { runCommandLine } from '../../../src/cli/run-command-line.js';
import type { CommandEnd } from './cli.js';
import { collectedOutput } from './collected-output.js';

/** Carries a command out in this process. */
export async function commandHere(...args: readonly string[]): Promise<CommandEnd> {
  const { output, texts } = collectedOutput();
  const code = await runCommandLine(args, { output, interrupts: new Interrupts() });
  return { code, ...texts };
}
