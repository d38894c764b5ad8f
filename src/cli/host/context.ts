import type { Output } from '../display/output.js';
import type { Interrupts } from './interrupts.js';

/** What every command is given beside its own arguments. */
export interface CliContext {
  readonly output: Output;
  readonly interrupts: Interrupts;
}
