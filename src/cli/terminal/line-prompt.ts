import { inputRow } from './input-row.js';
import { Keyboard, type Pressed, type TerminalInput } from './keyboard.js';
import { editLine, NOTHING_TYPED } from './line-editor.js';
import { LiveRegion, type Screen } from './live-region.js';
import { wantsColour } from './paint-line.js';
import { plainLine } from './styled-text.js';

/** Where a line is typed. */
export interface LinePrompt {
  readonly input: TerminalInput;
  readonly screen: Screen;
  /** Ends the prompt as `end-of-input` does. */
  readonly signal: AbortSignal;
}

const HINT = 'message to the agent; Ctrl-D ends';

/**
 * Lets a person type one line at the bottom of a terminal. Resolves with the line, or with the way in which it ended: Ctrl-C without a
 * text is `interrupt`, Ctrl-D `end-of-input`.
 */
export async function readTypedLine({ input, screen, signal }: LinePrompt): Promise<{ text: string } | 'interrupt' | 'end-of-input'> {
  const region = new LiveRegion(screen, wantsColour(process.env));
  let typed = NOTHING_TYPED;
  const draw = (): void => {
    const { line, before } = inputRow({ input: typed, hint: HINT }, region.columns);
    region.write([], { lines: [line], cursorBehind: before });
  };
  return await new Promise((resolve) => {
    const end = (outcome: { text: string } | 'interrupt' | 'end-of-input'): void => {
      keyboard.stop();
      process.off('SIGWINCH', draw);
      signal.removeEventListener('abort', onAbort);
      region.write(typeof outcome === 'string' ? [] : [plainLine(`> ${outcome.text}`, 'bold')], { lines: [] });
      resolve(outcome);
    };
    const onAbort = (): void => end('end-of-input');
    const onPressed = (pressed: Pressed): void => {
      if (pressed.kind === 'enter') {
        if (typed.text.trim() !== '') end({ text: typed.text });
      } else if (pressed.kind === 'interrupt' && typed.text === '') end('interrupt');
      else if (pressed.kind === 'end-of-input' && typed.text === '') end('end-of-input');
      else {
        const clears = pressed.kind === 'interrupt' || pressed.kind === 'escape';
        if (clears) typed = NOTHING_TYPED;
        else typed = editLine(typed, pressed.kind === 'end-of-input' ? { kind: 'delete' } : pressed);
        draw();
      }
    };
    const keyboard = new Keyboard(input, (text) => screen.write(text), onPressed);
    keyboard.start();
    process.on('SIGWINCH', draw);
    signal.addEventListener('abort', onAbort, { once: true });
    draw();
  });
}
