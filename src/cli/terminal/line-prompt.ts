import type { Voice } from '../display/output.js';
import { terminalLine } from '../display/terminal-text.js';
import { inputRow } from './input-row.js';
import type { Keys, Pressed } from './keyboard.js';
import { editLine, NOTHING_TYPED } from './line-editor.js';
import { LiveRegion, type Screen } from './live-region.js';
import { wantsColour } from './paint-line.js';
import { type Line, plainLine } from './styled-text.js';

/** Where a line is typed. */
export interface LinePrompt {
  /** The keys, and the line that they edit, which may be half typed already. */
  readonly keys: Pick<Keys, 'draft' | 'listen'>;
  readonly screen: Screen;
  /** Lines that were entered before. The first of them is the answer. */
  readonly entered: string[];
  /** Notices are printed above the line while it is typed. */
  readonly voice: Voice;
  /** Ends the prompt as `end-of-input` does. */
  readonly signal: AbortSignal;
}

const HINT = 'message to the agent; Ctrl-D ends';

/**
 * Lets a person type one line at the bottom of a terminal. Resolves with the line, or with the way in which it ended: Ctrl-C without a
 * text is `interrupt`, Ctrl-D `end-of-input`.
 */
export async function readTypedLine(prompt: LinePrompt): Promise<{ text: string } | 'interrupt' | 'end-of-input'> {
  const { keys, screen, entered, voice, signal } = prompt;
  const { draft } = keys;
  const region = new LiveRegion(screen, wantsColour(process.env));
  if (signal.aborted) return 'end-of-input';
  const first = entered.shift();
  if (first !== undefined) {
    region.write([plainLine(`> ${first}`, 'bold')], { lines: [] });
    return { text: first };
  }
  const { say } = voice;
  const write = (staying: readonly Line[]): void => {
    const { line, before } = inputRow({ input: draft.typed, hint: HINT }, region.columns);
    region.write(staying, { lines: [line], cursorBehind: before });
  };
  const draw = (): void => write([]);
  voice.say = (line) => write([plainLine(terminalLine(line), 'dim')]);
  return await new Promise((resolve) => {
    const end = (outcome: { text: string } | 'interrupt' | 'end-of-input'): void => {
      stop();
      voice.say = say;
      process.off('SIGWINCH', draw);
      signal.removeEventListener('abort', onAbort);
      region.write(typeof outcome === 'string' ? [] : [plainLine(`> ${outcome.text}`, 'bold')], { lines: [] });
      resolve(outcome);
    };
    const onAbort = (): void => end('end-of-input');
    const onPressed = (pressed: Pressed): void => {
      const { text } = draft.typed;
      if (pressed.kind === 'enter') {
        if (text.trim() === '') return;
        draft.typed = NOTHING_TYPED;
        end({ text });
      } else if (pressed.kind === 'interrupt' && text === '') end('interrupt');
      else if (pressed.kind === 'end-of-input' && text === '') end('end-of-input');
      else {
        const clears = pressed.kind === 'interrupt' || pressed.kind === 'escape';
        if (clears) draft.typed = NOTHING_TYPED;
        else draft.typed = editLine(draft.typed, pressed.kind === 'end-of-input' ? { kind: 'delete' } : pressed);
        draw();
      }
    };
    const stop = keys.listen({ onPressed, onSuspend: () => region.clear(), onResume: draw });
    process.on('SIGWINCH', draw);
    signal.addEventListener('abort', onAbort, { once: true });
    draw();
  });
}
