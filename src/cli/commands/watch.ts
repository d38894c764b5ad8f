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

/** `watch RUN`: follows a run to its end and exits with a status for its reason. Hosts the worker of an embedded server if no process does. */
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
    const serving = { place, config: hosts ? await loadConfigHere() : undefined, say, terminated: context.interrupts.terminated };
    return await serveWhile(serving, async (ready) => {
      // a query sent before a worker is ready waits in the sticky queue of a dead worker
      await Promise.race([ready, untilInterrupted(context.interrupts)]);
      return await followRun(run, context, display, { ...options, detachHint: detachHint(runId, place) });
    });
  } finally {
    display.end();
    await place.close();
  }
}
