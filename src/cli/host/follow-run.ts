import type { RunHandle } from '../../client/run-handle.js';
import type { WatchItem } from '../../client/watch/watch-run.js';
import type { RunResult } from '../../contracts/schemas/run.js';
import { EventsDisplay } from '../display/json-display.js';
import type { Output } from '../display/output.js';
import { PlainDisplay } from '../display/plain-display.js';
import { EXIT_CODE_BY_REASON, printResult } from '../display/result.js';
import type { RunDisplay } from '../display/run-display.js';
import { followedItems } from '../follow/followed-items.js';
import { LiveDisplay } from '../terminal/live-display.js';
import { canMoveCursor } from '../terminal/paint-line.js';
import { type CliContext, keysOf } from './context.js';
import { EXIT_CODE_DETACHED } from './interrupts.js';
import type { ShowOptions } from './run-options.js';

/** Options of `followRun`. */
export interface FollowOptions extends ShowOptions {
  /** Printed when Ctrl-C detaches from the run. */
  readonly detachHint: string;
  /** Called when no worker answers a run that no worker has answered so far. If it throws, `followRun` rejects with that error. */
  readonly onNoWorker?: (display: RunDisplay) => void;
}

/**
 * Follows a run to its end, prints its result and resolves with the exit status. Ctrl-C detaches and does not change the run.
 * On a terminal, keys decide approvals, answer questions and send messages, and the first Ctrl-C holds the run.
 */
export async function followRun(run: RunHandle, context: CliContext, display: RunDisplay, options: FollowOptions): Promise<number> {
  const { output, interrupts } = context;
  const result = await watchToEnd(run, { context, display, options });
  if (!result) {
    if (interrupts.kind === 'ctrl-c') output.stderr.write(`${options.detachHint}\n`);
    return EXIT_CODE_DETACHED[interrupts.kind ?? 'ctrl-c'];
  }
  if (!options.events) {
    const shown = output.stdout.isTTY === true && display.hasShown(result.output);
    printResult(output, result, { json: options.json ?? false, shown });
  }
  return EXIT_CODE_BY_REASON[result.reason];
}

/** Creates the display of a run: JSON Lines, rows that change on a terminal, plain lines otherwise. */
export function createDisplay(output: Output, options: ShowOptions): RunDisplay {
  if (options.events) return new EventsDisplay(output);
  return output.stderr.isTTY && canMoveCursor(process.env) ? new LiveDisplay(output) : new PlainDisplay(output);
}

async function watchToEnd(
  run: RunHandle,
  { context, display, options }: { context: CliContext; display: RunDisplay; options: FollowOptions },
): Promise<RunResult | undefined> {
  const following = { display, signal: context.interrupts.signal, keys: keysOf(context, options), hasHints: true };
  // after an outage the worker comes back, or another one takes over: only a run that never had one is left alone
  let hadWorkerOrOutage = false;
  try {
    for await (const item of followedItems(run, following)) {
      if (isNoWorker(item) && !hadWorkerOrOutage) options.onNoWorker?.(display);
      if (item.type === 'progress' || (item.type === 'notice' && !isNoWorker(item))) hadWorkerOrOutage = true;
      if (item.type === 'result') return item.result;
    }
    return undefined;
  } finally {
    display.end();
  }
}

function isNoWorker(item: WatchItem): boolean {
  return item.type === 'notice' && item.code === 'NO_WORKER';
}
