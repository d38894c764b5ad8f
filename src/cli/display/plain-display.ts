import type { WatchItem } from '../../client/watch/watch-run.js';
import { eventLine } from './event-line.js';
import { type Output, say } from './output.js';
import type { RunDisplay } from './run-display.js';

/** Prints one plain line per event on stderr, for logs and pipes. */
export class PlainDisplay implements RunDisplay {
  readonly #output: Output;

  constructor(output: Output) {
    this.#output = output;
  }

  show(item: WatchItem): void {
    if (item.type === 'notice') this.say(`${item.code}: ${item.message}`);
    if (item.type !== 'event') return;
    const line = eventLine(item.event);
    // not through `say`, which would trim the indent that marks the events of a turn
    if (line !== undefined) this.#output.stderr.write(`${line}\n`);
  }

  say(line: string): void {
    say(this.#output, line);
  }

  end(): void {
    // each line is complete, so nothing is left to flush
  }

  hasShown(): boolean {
    return false;
  }
}
