import { DEV_SERVER_LIMITS } from '../../contracts/constants/limits.js';
import { resolveStateDir } from '../../worker/state-folder/state-folder.js';
import { say } from '../display/output.js';
import { announceBackground } from '../host/background.js';
import type { CliContext } from '../host/context.js';
import { hostWorker, sayIfOtherConfig } from '../host/host-worker.js';
import { untilInterrupted } from '../host/interrupts.js';
import { loadConfigHere } from '../host/load-config.js';
import { type Announcement, untilIdle } from '../host/until-idle.js';
import { openPlace, type Place, type PlaceOptions } from '../host/workplace.js';
import { checkPort } from '../options/number.js';

/** The options of `dev`. */
export interface DevOptions extends PlaceOptions {
  readonly untilIdle?: boolean;
  readonly port?: number | string;
  /** Takes starts and approvals without a signature. */
  readonly open?: boolean;
}

/** `dev`: runs the server, its Web UI and a worker until Ctrl-C. With `--until-idle`, exits when no run has been open for 10 s. */
export async function dev(options: DevOptions, context: CliContext): Promise<number> {
  const tell = (line: string): void => say(context.output, line);
  const { port: givenPort, ...where } = options;
  const port = givenPort === undefined ? undefined : checkPort(givenPort, DEV_SERVER_LIMITS.portMax);
  const config = await loadConfigHere();
  // a `start` in this folder relies on this process from this point
  const announcement = options.untilIdle ? await announceBackground(resolveStateDir()) : undefined;
  const place = await openPlace({ ...where, port }, tell, config);
  try {
    await registerSearchAttributes(place, tell);
    const takesUnsigned = options.open ?? false;
    const hosting = { place, config, say: tell, terminated: context.interrupts.terminated, takesUnsigned };
    await sayIfOtherConfig(hosting);
    const hosted = await hostWorker(hosting);
    try {
      const { location, taskQueue } = place;
      tell(`Temporal ${location.address}, namespace ${location.namespace}, queue ${taskQueue}`);
      if (location.uiUrl !== undefined) tell(`Web UI ${location.uiUrl}`);
      if (location.kind === 'embedded') tell(takesUnsigned ? OPEN_LINE : SIGNED_LINE);
      await Promise.race([hosted.ready, untilInterrupted(context.interrupts)]);
      tell(announcement ? 'worker running; it exits when no run is open' : 'worker running; Ctrl-C stops it and keeps open runs');
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

const OPEN_LINE = 'open: every user of this machine can start runs, approve calls and raise limits as you';
const SIGNED_LINE =
  "only you start runs with a workspace and approve calls: with perdure, or 'perdure sign'; --open allows it in the Web UI";

/** Registers the search attributes on a configured server. The embedded server starts with them. */
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
