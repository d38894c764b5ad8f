import { resolveStateDir } from '../../worker/state-folder/state-folder.js';
import { say } from '../display/output.js';
import { announceBackground } from '../host/background.js';
import type { CliContext } from '../host/context.js';
import { hostWorker, sayIfOtherConfig } from '../host/host-worker.js';
import { untilInterrupted } from '../host/interrupts.js';
import { loadConfigHere } from '../host/load-config.js';
import { type Announcement, untilIdle } from '../host/until-idle.js';
import { openPlace, type Place, type PlaceOptions } from '../host/workplace.js';

/** The options of `dev`. */
export interface DevOptions extends PlaceOptions {
  readonly untilIdle?: boolean;
}

/** `dev`: the server with its Web UI, and a worker, until Ctrl-C; with `--until-idle` until no run has been open for 10 s. */
export async function dev(options: DevOptions, context: CliContext): Promise<number> {
  const tell = (line: string): void => say(context.output, line);
  const config = await loadConfigHere();
  // from here on a `start` in this folder relies on this process
  const announcement = options.untilIdle ? await announceBackground(resolveStateDir()) : undefined;
  const place = await openPlace(options, tell);
  try {
    await registerSearchAttributes(place, tell);
    const hosting = { place, config, say: tell };
    await sayIfOtherConfig(hosting);
    const hosted = await hostWorker(hosting);
    try {
      const { location, taskQueue } = place;
      tell(`Temporal ${location.address}, namespace ${location.namespace}, queue ${taskQueue}`);
      if (location.uiUrl !== undefined) tell(`Web UI ${location.uiUrl}`);
      await Promise.race([hosted.ready, untilInterrupted(context.interrupts)]);
      tell(announcement ? 'working until no run is open' : 'working; Ctrl-C ends it, and open runs go on with the next command here');
      await Promise.race([
        hosted.ended,
        untilInterrupted(context.interrupts),
        ...(announcement ? [workUntilIdle(place, announcement, context)] : []),
      ]);
    } finally {
      await hosted.stop();
    }
    return 0;
  } finally {
    await announcement?.remove();
    await place.close();
  }
}

/** The folder's own server is started with them; any other is asked to take them. */
async function registerSearchAttributes({ location }: Place, tell: (line: string) => void): Promise<void> {
  if (location.kind === 'embedded') return;
  const { checkSearchAttributes } = await import('../../worker/self-check.js');
  const { level, name, detail } = await checkSearchAttributes(location, { fix: true });
  if (level !== 'ok') tell(`${name}: ${detail}`);
}

async function workUntilIdle(place: Place, announcement: Announcement, { interrupts }: CliContext): Promise<void> {
  await untilIdle({
    hasOpenRuns: async () => (await place.client.list({ status: 'open', limit: 1 })).length > 0,
    announcement,
    announceAgain: () => announceBackground(place.stateDir),
    signal: interrupts.signal,
  });
}
