import type { WatchItem } from '../../client/watch/watch-run.js';
import { type Output, printJson, say } from './output.js';
import type { RunDisplay } from './run-display.js';

/**
 * JSON Lines on stdout: run events as they are, tokens as `{type: "stream", event}`, `{type: "progress", progress}`, `{type: "notice", …}`,
 * and as the last line `{type: "result", result}`.
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
    // every line is whole already
  }

  hasShown(): boolean {
    return true;
  }

  /** A progress that says nothing new is left out. */
  #showProgress(item: WatchItem): void {
    const text = JSON.stringify(item);
    if (text === this.#lastProgress) return;
    this.#lastProgress = text;
    printJson(this.#output, item);
  }
}
