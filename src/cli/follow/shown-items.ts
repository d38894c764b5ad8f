import type { RunHandle } from '../../client/run-handle.js';
import type { WatchItem } from '../../client/watch/watch-run.js';
import type { RunDisplay } from '../display/run-display.js';
import { RunMessages } from './run-messages.js';

/**
 * Watches a run and shows each item, then yields it. A display that wants the messages of the transcript gets them first: events have no
 * arguments and no results.
 */
export async function* shownItems(
  run: Pick<RunHandle, 'watch' | 'transcript'>,
  display: RunDisplay,
  signal: AbortSignal,
): AsyncGenerator<WatchItem> {
  const messages = new RunMessages(run);
  for await (const item of run.watch({ signal })) {
    if (display.wantsMessages?.(item)) display.learn?.(await messages.next());
    display.show(item);
    yield item;
  }
}
