import type { WatchItem } from '../../client/watch/watch-run.js';

/** Shows a run while it is watched. Contract: `show` is called in order and never throws for what a run says; `end` leaves a clean line. */
export interface RunDisplay {
  show(item: WatchItem): void;
  /** A line from outside the run, such as what the worker is doing. */
  say(line: string): void;
  end(): void;
  /** True when the text of the last answer stands on the terminal already. */
  hasShown(text: string): boolean;
}
