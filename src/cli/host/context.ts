import type { Output } from '../display/output.js';
import { Keyboard, type Keys, type TerminalInput } from '../terminal/keyboard.js';
import { Draft } from '../terminal/line-editor.js';
import type { Interrupts } from './interrupts.js';

/** The environment of a command: its streams and its interrupts. */
export interface CliContext {
  readonly output: Output;
  readonly interrupts: Interrupts;
  /** Where keys are read from, if it is a terminal. @default none */
  readonly input?: TerminalInput;
}

/** The keys of a command. Undefined without a terminal, and if the output is for a program. */
export function keysOf({ input, output, interrupts }: CliContext, { json = false }: { readonly json?: boolean } = {}): Keys | undefined {
  if (!input?.isTTY || json) return undefined;
  return {
    draft: new Draft(),
    listen(receiver) {
      const keyboard = new Keyboard(input, (text) => output.stderr.write(text), receiver);
      keyboard.start();
      return () => keyboard.stop();
    },
    detach: () => interrupts.interrupt('ctrl-c'),
  };
}
