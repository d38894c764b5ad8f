import type { RunHandle } from '../../client/run-handle.js';
import type { WatchItem } from '../../client/watch/watch-run.js';
import { ApprovalHints } from '../display/approval-hints.js';
import type { RunDisplay } from '../display/run-display.js';
import type { Keys } from '../terminal/keyboard.js';
import { LiveDisplay } from '../terminal/live-display.js';
import { showCallProgress } from './call-progress.js';
import { decidedBy } from './current-user.js';
import { type Controlled, RunControls } from './run-controls.js';
import type { SendMessage } from './run-hold.js';
import { shownItems } from './shown-items.js';

/** How a run is followed. */
export interface Following {
  readonly display: RunDisplay;
  /** Stops following. */
  readonly signal: AbortSignal;
  /** Undefined if no keys are read: there is no terminal, or the output is for a program. */
  readonly keys: Keys | undefined;
  /** Sends the lines that are typed. @default to the run */
  readonly send?: SendMessage;
  /** Without keys, prints the commands that decide pending approvals. @default false */
  readonly hasHints?: boolean;
}

/** Watches a run and shows its items. On a terminal, keys decide approvals, answer questions and send messages meanwhile. */
export async function* followedItems(run: RunHandle, following: Following): AsyncGenerator<WatchItem> {
  const { display, signal, keys, send = steering(run), hasHints = false } = following;
  const controls = keys && display instanceof LiveDisplay && !signal.aborted ? openControls({ run, display, send }, keys) : undefined;
  const stop = new AbortController();
  const ended = AbortSignal.any([signal, stop.signal]);
  const progress = display instanceof LiveDisplay ? showCallProgress(run, display, ended) : undefined;
  const hints = hasHints && !controls ? new ApprovalHints(run.runId) : undefined;
  try {
    for await (const item of shownItems(run, display, signal)) {
      controls?.take(item);
      for (const hint of hints?.take(item) ?? []) display.say(hint);
      yield item;
    }
  } finally {
    stop.abort();
    controls?.close();
    await progress;
  }
}

interface OpenControls {
  take(item: WatchItem): void;
  close(): void;
}

function openControls(shown: Pick<Controlled, 'run' | 'send'> & { readonly display: LiveDisplay }, keys: Keys): OpenControls {
  const detach = (): void => {
    // from here on Ctrl-C is a signal again: a further one ends the process at once
    stop();
    keys.detach();
  };
  const controls = new RunControls({ ...shown, draft: keys.draft, detach, decidedBy: decidedBy() });
  const stop = keys.listen({
    onPressed: (pressed) => controls.press(pressed),
    onSuspend: () => shown.display.suspend(),
    onResume: () => shown.display.resume(),
  });
  return {
    take: (item) => controls.take(item),
    close() {
      stop();
      controls.close();
    },
  };
}

function steering(run: RunHandle): SendMessage {
  return (text, { interrupt }) => run.steer(interrupt ? { text, mode: 'interrupt' } : { text });
}
