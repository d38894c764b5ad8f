import type { CliContext } from '../host/context.js';
import { createDisplay, followRun } from '../host/follow-run.js';
import { untilInterrupted } from '../host/interrupts.js';
import { loadConfigHere } from '../host/load-config.js';
import { checkShowOptions, type ShowOptions } from '../host/run-options.js';
import { serveWhile } from '../host/serve.js';
import { noSuchRun, openPlaceIfThere, type PlaceOptions } from '../host/workplace.js';
import { detachHint } from './run.js';

/** The options of `watch`. */
export interface WatchCommandOptions extends PlaceOptions, ShowOptions {
  /** False with `--no-worker`. */
  readonly worker: boolean;
}

/** `watch RUN`: shows a run from its start to its end and exits by its reason. On the folder's own server it hosts the worker, if nobody does. */
export async function watch(runId: string, options: WatchCommandOptions, context: CliContext): Promise<number> {
  checkShowOptions(options);
  const display = createDisplay(context.output, options);
  const say = (line: string): void => display.say(line);
  const place = await openPlaceIfThere(options, say);
  if (!place) throw noSuchRun(runId);
  try {
    const run = place.client.get(runId);
    const { open } = await run.describe();
    const hosts = options.worker && open && place.location.kind === 'embedded';
    const serving = { place, config: hosts ? await loadConfigHere() : undefined, say };
    return await serveWhile(serving, async (ready) => {
      // a query sent earlier would lie in the queue of the worker that died
      await Promise.race([ready, untilInterrupted(context.interrupts)]);
      return await followRun(run, context, display, { ...options, detachHint: detachHint(runId, place) });
    });
  } finally {
    display.end();
    await place.close();
  }
}
