import { SCHEDULE_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { writeDuration } from '../../contracts/text/duration.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { isScheduleName } from '../../contracts/text/schedules/firing.js';
import { ScheduleOverlap, type ScheduleTimes } from '../../contracts/text/schedules/schedule.js';
import { readTimes, type ScheduleTimesOptions, shortestGapMs } from '../../contracts/text/schedules/times.js';

/** When a schedule starts its task, and what happens to late and overlapping starts. Exactly one of `cron`, `everyMs` and `at` is needed. */
export interface ScheduleOptions extends ScheduleTimesOptions {
  /**
   * What happens at a time while the run of an earlier one is active. `skip`: nothing. `buffer-one`: one run starts after it.
   * `buffer-all`: a run for each time starts after it, and at most 1,000 of them wait. `cancel-other`: the active run is cancelled first. `allow-all`: both run. Not with
   * `session`, which answers all messages one after the other. @default skip
   */
  readonly overlap?: ScheduleOverlap | undefined;
  /**
   * A start that was missed, because the server was down, is made up within this time, in milliseconds: 10 s to 30 days. With `buffer-all` and
   * for a session, at most 1,000 starts. @default 1 h, or the time of 1,000 starts
   */
  readonly catchUpMs?: number | undefined;
  /** Key of a session: each start is a message to it. @default each start is a run of its own */
  readonly session?: string | undefined;
}

/** Options that were checked, complete. */
export interface CheckedSchedule {
  readonly name: string;
  readonly times: ScheduleTimes;
  readonly overlap: ScheduleOverlap;
  readonly catchUpMs: number;
}

/** Validates the name of a schedule. Throws `BAD_SCHEDULE_NAME` (exit 2). */
export function checkScheduleName(name: unknown): string {
  if (typeof name === 'string' && isScheduleName(name)) return name;
  const form = `1–${SCHEDULE_LIMITS.nameCharsMax} characters of A–Z a–z 0–9 . _ : -, not starting with . or -`;
  throw new PerdureError('BAD_SCHEDULE_NAME', `use ${form}; got ${echoValue(name)}`, 2);
}

/** Validates name and options of a schedule. Throws `BAD_SCHEDULE_NAME`, `BAD_SCHEDULE` for its times, and `BAD_OPTION` (exit 2). */
export function checkSchedule(name: string, options: ScheduleOptions): CheckedSchedule {
  const { overlap: given, catchUpMs, session } = options;
  const reading = readTimes(options);
  if ('problem' in reading) throw new PerdureError('BAD_SCHEDULE', reading.problem, 2);
  checkScheduleName(name);
  if (session !== undefined && given !== undefined) {
    throw new PerdureError('BAD_OPTION', 'overlap: a session answers all messages one after the other; remove the option', 2);
  }
  // each message to a session is sent, in its order
  const overlap = checkOverlap(given ?? (session === undefined ? 'skip' : 'buffer-all'));
  const { times } = reading;
  return { name, times, overlap, catchUpMs: checkCatchUp(catchUpMs, { times, overlap }) };
}

function checkOverlap(given: string): ScheduleOverlap {
  const { data } = ScheduleOverlap.safeParse(given);
  if (data !== undefined) return data;
  throw new PerdureError('BAD_OPTION', `overlap: one of ${ScheduleOverlap.options.join(', ')}; got ${echoValue(given)}`, 2);
}

/** The time within which missed starts are made up. All of them may wait at once, and the server keeps only so many. */
function checkCatchUp(wanted: number | undefined, { times, overlap }: Pick<CheckedSchedule, 'times' | 'overlap'>): number {
  const { catchUpMsMin, catchUpMsMax, catchUpMsDefault, startsBufferedMax } = SCHEDULE_LIMITS;
  const buffered = overlap === 'buffer-all' ? startsBufferedMax * shortestGapMs(times) : catchUpMsMax;
  const max = Math.min(catchUpMsMax, buffered);
  const given = wanted ?? Math.min(catchUpMsDefault, max);
  if (Number.isInteger(given) && given >= catchUpMsMin && given <= max) return given;
  const why = max < catchUpMsMax ? `, because at most ${startsBufferedMax} starts wait` : '';
  const bounds = `${writeDuration(catchUpMsMin)} to ${writeDuration(max)}${why}`;
  throw new PerdureError('BAD_OPTION', `catch-up: ${bounds}; got ${Number.isFinite(given) ? writeDuration(given) : echoValue(given)}`, 2);
}
