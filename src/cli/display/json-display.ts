import type { WatchItem } from '../../client/watch/watch-run.js';
import { type Output, printJson, say } from './output.js';
import type { RunDisplay } from './run-display.js';

/**
 * Prints JSON Lines on stdout: run events unchanged, tokens as `{type: "stream", event}`, `{type: "progress", progress}`,
 * `{type: "notice", …}`, and `{type: "result", result}` as the last line.
 */
export class EventsDisplay implements RunDisplay {
  readonly #output: Output;
  #lastProgress = '';

  constructor(output: Output) {
    this.#output = output;
  }

  show(item: WatchItem): void {
    if (item.type === 'event') printJson(this.#output, item.event);
    else if (item.type !== 'progress') printJson(this.#output, item);
    else this.#showProgress(item);
  }

  say(line: string): void {
    say(this.#output, line);
  }

  end(): void {
    // each line is complete, so nothing is left to flush
  }

  hasShown(): boolean {
    return true;
  }

  /** Prints a progress only if it differs from the last one. */
  #showProgress(item: WatchItem): void {
    const text = JSON.stringify(item);
    if (text === this.#lastProgress) return;
    this.#lastProgress = text;
    printJson(this.#output, item);
  }
}
