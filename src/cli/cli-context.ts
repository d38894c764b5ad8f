import type { Interrupts } from './interrupts.js';
import type { Output } from './output.js';

/** What every command is given beside its own arguments. */
export interface CliContext {
  readonly output: Output;
  readonly interrupts: Interrupts;
}
