import type { Output } from '../display/output.js';
import type { Interrupts } from './interrupts.js';

/** The environment of a command: its output streams and its interrupts. */
export interface CliContext {
  readonly output: Output;
  readonly interrupts: Interrupts;
}
