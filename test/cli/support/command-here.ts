import { Interrupts } from '../../../src/cli/host/interrupts.js';
import { runCommandLine } from '../../../src/cli/run-command-line.js';
import type { CommandEnd } from './cli.js';
import { type CollectedOutput, collectedOutput } from './collected-output.js';

/** A command that runs in this process: what it wrote so far, and its end. */
export interface CommandInWork {
  readonly texts: CollectedOutput['texts'];
  readonly ended: Promise<CommandEnd>;
}

/** Starts a command in this process. */
export function startHere(...args: readonly string[]): CommandInWork {
  const { output, texts } = collectedOutput();
  const ended = runCommandLine(args, { output, interrupts: new Interrupts() }).then((code) => ({ code, ...texts }));
  return { texts, ended };
}

/** Carries a command out in this process. */
export function commandHere(...args: readonly string[]): Promise<CommandEnd> {
  return startHere(...args).ended;
}
