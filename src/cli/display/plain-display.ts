import type { WatchItem } from '../../client/watch/watch-run.js';
import { eventLine } from './event-line.js';
import { type Output, say } from './output.js';
import type { RunDisplay } from './run-display.js';

/** Plain lines on stderr, one per thing worth telling: for logs and pipes. */
export class PlainDisplay implements RunDisplay {
  readonly #output: Output;

  constructor(output: Output) {
    this.#output = output;
  }

  show(item: WatchItem): void {
    if (item.type === 'notice') this.say(`${item.code}: ${item.message}`);
    if (item.type !== 'event') return;
    const line = eventLine(item.event);
    // not through `say`: the indent tells a turn from what happened in it
    if (line !== undefined) this.#output.stderr.write(`${line}\n`);
  }

  say(line: string): void {
    say(this.#output, line);
  }

  end(): void {
    // every line is whole already
  }

  hasShown(): boolean {
    return false;
  }
}
