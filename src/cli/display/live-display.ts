import type { WatchItem } from '../../client/watch/watch-run.js';
import type { Progress } from '../../contracts/schemas/run.js';
import { eventLine } from './event-line.js';
import type { Output } from './output.js';
import type { RunDisplay } from './run-display.js';
import { progressAfter, statusLine } from './status-line.js';
import { terminalLine, terminalText } from './terminal-text.js';
import { StreamText } from './token-stream.js';

const CLEAR_LINE = '\r\u001b[2K';
const DIM = '\u001b[2m';
const PLAIN = '\u001b[0m';
const COLUMNS_DEFAULT = 80;
const COLUMNS_MIN = 20;
const REDRAW_MS = 1_000;

/**
 * Shows a run on a terminal: the streamed response, dimmed lines for events, and a status line at the bottom. Streamed text is printed
 * by whole lines, or by words at the width of the terminal, so that the status line never splits it.
 */
export class LiveDisplay implements RunDisplay {
  readonly #stderr: Output['stderr'];
  readonly #stream = new StreamText();
  readonly #startedAt = Date.now();
  readonly #redraw: NodeJS.Timeout;
  #progress: Progress | undefined;
  #held = '';
  #shown = '';

  constructor(output: Output) {
    this.#stderr = output.stderr;
    this.#redraw = setInterval(() => this.#draw(''), REDRAW_MS).unref();
  }

  show(item: WatchItem): void {
    switch (item.type) {
      case 'progress':
        this.#progress = item.progress;
        return this.#draw('');
      case 'event': {
        this.#progress &&= progressAfter(this.#progress, item.event);
        const line = eventLine(item.event);
        return line === undefined ? undefined : this.#draw(`${this.#flush()}${DIM}${line}${PLAIN}\n`);
      }
      case 'notice':
        return this.say(`${item.code}: ${item.message}`);
      case 'stream':
        return this.#showStream(this.#stream.take(item.event));
      case 'result':
        return undefined;
    }
  }

  say(line: string): void {
    this.#draw(`${this.#flush()}${DIM}${terminalLine(line)}${PLAIN}\n`);
  }

  end(): void {
    clearInterval(this.#redraw);
    this.#progress = undefined;
    this.#draw(this.#flush());
  }

  hasShown(text: string): boolean {
    return this.#shown !== '' && this.#shown.trim() === terminalText(text).trim();
  }

  #showStream(change: ReturnType<StreamText['take']>): void {
    if (change.kind === 'none') return;
    if (change.kind === 'restart') {
      this.#held = '';
      this.#shown = '';
      this.#draw(`${DIM}(the response restarts)${PLAIN}\n`);
      return;
    }
    this.#shown = terminalText(this.#stream.text);
    this.#held += change.text;
    const { ready, rest } = splitReady(this.#held, this.#columns - 1);
    this.#held = rest;
    if (ready !== '') this.#draw(terminalText(ready));
  }

  /** Returns the buffered streamed text as a line. */
  #flush(): string {
    const text = terminalText(this.#held);
    this.#held = '';
    return text === '' ? '' : `${text}\n`;
  }

  /** Prints text above the status line. */
  #draw(text: string): void {
    const status = this.#progress
      ? statusLine({ progress: this.#progress, elapsedMs: Date.now() - this.#startedAt, columns: this.#columns })
      : '';
    this.#stderr.write(`${CLEAR_LINE}${text}${status}`);
  }

  get #columns(): number {
    // some terminals report no size, or a size of 0
    return Math.max(this.#stderr.columns || COLUMNS_DEFAULT, COLUMNS_MIN);
  }
}

/** The part of a growing text that can be printed: whole lines, and lines of the full width, broken at a space if there is one. Pure. */
export function splitReady(text: string, width: number): { readonly ready: string; readonly rest: string } {
  const end = text.lastIndexOf('\n') + 1;
  let ready = text.slice(0, end);
  let rest = text.slice(end);
  while (rest.length > width) {
    const space = rest.lastIndexOf(' ', width);
    const cut = space > 0 ? space + 1 : width;
    ready += `${rest.slice(0, cut).trimEnd()}\n`;
    rest = rest.slice(cut);
  }
  return { ready, rest };
}
