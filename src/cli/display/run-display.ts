import type { WatchItem } from '../../client/watch/watch-run.js';
import type { Message } from '../../contracts/schemas/message.js';

/** Displays a run while it is watched. Contract: `show` is called in order and never throws for the content of an item; `end` leaves a clean line. */
export interface RunDisplay {
  show(item: WatchItem): void;
  /** Prints a notice that is not an event of the run, such as one of the worker. */
  say(line: string): void;
  end(): void;
  /** True if the new messages of the transcript should be read, and given to `learn`, before this item is shown. @default none are */
  wantsMessages?(item: WatchItem): boolean;
  /** Takes messages of the transcript, in order. */
  learn?(messages: readonly Message[]): void;
  /** True if the last response is already on the terminal. */
  hasShown(text: string): boolean;
}
