import { onTestFinished, vi } from 'vitest';
import { RunControls } from '../../../../src/cli/follow/run-controls.js';
import type { Pressed } from '../../../../src/cli/terminal/keyboard.js';
import { Draft } from '../../../../src/cli/terminal/line-editor.js';
import type { Prompt } from '../../../../src/cli/terminal/live-display.js';
import { paintLine } from '../../../../src/cli/terminal/paint-line.js';
import type { Line } from '../../../../src/cli/terminal/styled-text.js';
import type { PerdureError } from '../../../../src/contracts/perdure-error.js';

/** Controls of a run whose requests are noted, and may be refused. */
export class Desk {
  readonly sent: unknown[] = [];
  readonly printed: string[] = [];
  refusal: PerdureError | undefined;
  pending: readonly object[] = [];
  prompt: Prompt | undefined;
  readonly draft = new Draft();
  readonly controls: RunControls;

  constructor() {
    const note =
      (verb: string) =>
      (...args: unknown[]): Promise<never> => {
        this.sent.push([verb, ...args]);
        return this.refusal ? Promise.reject(this.refusal) : Promise.resolve(undefined as never);
      };
    const verbs = ['approve', 'deny', 'answer', 'hold', 'release'] as const;
    const [approve, deny, answer, hold, release] = verbs.map(note);
    const steer = note('steer');
    this.controls = new RunControls({
      // every verb is noted
      run: {
        runId: 'r',
        approve,
        deny,
        answer,
        hold,
        release,
        approvals: () => Promise.resolve({ pending: this.pending, decided: [] }),
      } as never,
      send: (text, { interrupt }) => steer(interrupt ? { text, mode: 'interrupt' } : { text }),
      display: {
        columns: 60,
        setPrompt: (prompt) => void (this.prompt = prompt),
        print: (lines: readonly Line[], onShown) => {
          this.printed.push(...lines.map((line) => paintLine(line, false)));
          onShown?.();
        },
        say: (line) => void this.printed.push(line),
        callOf: () => undefined,
      },
      detach: () => void this.sent.push(['detach']),
      draft: this.draft,
      decidedBy: { by: 'ada' },
    });
    onTestFinished(() => this.controls.close());
  }

  /** Presses keys: named ones by their name, others a character each. */
  press(...keys: readonly (Exclude<Pressed['kind'], 'insert'> | { readonly text: string })[]): void {
    for (const key of keys) {
      if (typeof key === 'string') this.controls.press({ kind: key });
      else for (const text of key.text) this.controls.press({ kind: 'insert', text });
    }
  }

  /** Does it with a clock that stands still: in a busy process, half a second may pass between two calls. */
  atOnce(act: () => void): void {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      act();
    } finally {
      vi.useRealTimers();
    }
  }

  /** Waits until an approval takes keys. */
  async takesKeys(): Promise<void> {
    await vi.waitFor(
      () => {
        if (!this.shown.includes('y approve')) throw new Error(`it takes no keys yet: ${this.shown}`);
      },
      { timeout: 30_000 },
    );
  }

  get shown(): string {
    return this.prompt?.lines.map((line) => paintLine(line, false)).join('\n') ?? '';
  }
}
