import type { ScheduleState } from '../../../client/schedules/describe-schedule.js';
import { checkSchedule, type ScheduleOptions } from '../../../client/schedules/schedule-options.js';
import type { ScheduleOverlap } from '../../../contracts/text/schedules/schedule.js';
import { printJson, printText, say } from '../../display/output.js';
import type { CliContext } from '../../host/context.js';
import { nameHost } from '../../host/name-host.js';
import { type InputOptions, startFromOptions } from '../../host/run-options.js';
import { openPlace, type Place, type PlaceOptions } from '../../host/workplace.js';
import { parseDuration } from '../../options/duration.js';
import { formatInZone } from './show.js';

/** The options of `schedule create`. */
export interface ScheduleCreateOptions extends PlaceOptions, InputOptions {
  readonly json?: boolean;
  readonly agent?: string;
  readonly workspace?: string;
  readonly iKnow?: boolean;
  readonly tenant?: string;
  readonly cron?: string;
  readonly every?: string;
  readonly at?: string;
  readonly timeZone?: string;
  /** Not yet checked. */
  readonly overlap?: ScheduleOverlap;
  readonly catchUp?: string;
  readonly session?: string;
}

/** `schedule create NAME TASK`: creates a schedule and prints its name. Loads no config and starts no worker. */
export async function createSchedule(
  { name, task }: { readonly name: string; readonly task: string },
  options: ScheduleCreateOptions,
  { output }: CliContext,
): Promise<number> {
  const { session: _session, ...others } = options;
  const times = timesOf(options);
  checkSchedule(name, times);
  const checked = await startFromOptions(task, { ...others, worker: false });
  const tell = (line: string): void => say(output, line);
  const place = await openPlace(options, tell);
  try {
    const { id: _id, ...input } = await nameHost(place, checked);
    const state = await place.client.schedules.create(name, input, times);
    if (options.json) printJson(output, state);
    else printText(output, name);
    tell(`${state.times} (${state.timeZone}), next: ${nextOf(state)}`);
    if (!(await place.hasWorker())) tell(workerHint(place));
    return 0;
  } finally {
    await place.close();
  }
}

function timesOf({ cron, every, at, timeZone, overlap, catchUp, session }: ScheduleCreateOptions): ScheduleOptions {
  return {
    cron,
    everyMs: every === undefined ? undefined : parseDuration(every, 'every'),
    at,
    // a person means the clock on the wall
    timeZone: timeZone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone,
    overlap,
    catchUpMs: catchUp === undefined ? undefined : parseDuration(catchUp, 'catch-up'),
    session,
  };
}

function nextOf({ next, timeZone }: ScheduleState): string {
  return next === undefined ? 'never' : formatInZone(next, timeZone);
}

/** What is missing for the task to run at its time. */
function workerHint({ location, taskQueue }: Place): string {
  if (location.kind === 'embedded') {
    return "no worker is running, and the embedded server stops with the last command of this folder; keep both running with 'perdure dev'";
  }
  return `no worker polls queue ${taskQueue}; started tasks wait for one: start it with 'perdure worker'`;
}
