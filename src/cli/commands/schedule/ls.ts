import type { ScheduleItem } from '../../../client/schedules/describe-schedule.js';
import { formatTable } from '../../display/format.js';
import { printJson, printText, say } from '../../display/output.js';
import { terminalLine } from '../../display/terminal-text.js';
import type { CliContext } from '../../host/context.js';
import { openPlaceIfThere, type PlaceOptions } from '../../host/workplace.js';
import { formatInZone } from './show.js';

/** The options of `schedule ls`. */
export interface ScheduleLsOptions extends PlaceOptions {
  readonly json?: boolean;
  readonly limit?: number | string;
}

/** `schedule ls`: lists the schedules of the task queue, by name. */
export async function listSchedules({ json, limit, ...where }: ScheduleLsOptions, { output }: CliContext): Promise<number> {
  const place = await openPlaceIfThere(where, (line) => say(output, line));
  try {
    const options = limit === undefined ? {} : { limit: typeof limit === 'number' ? limit : Number.NaN };
    const items = place ? await place.client.schedules.list(options) : [];
    if (json) printJson(output, items);
    else if (items.length > 0) printText(output, formatSchedules(items));
    else say(output, "no schedules found; create one with: perdure schedule create NAME --at 08:00 'TASK'");
    return 0;
  } finally {
    await place?.close();
  }
}

/** Rows of name, status, times, next start and task under a heading. Pure. */
export function formatSchedules(items: readonly ScheduleItem[]): string {
  const rows = items.map(({ name, status, times, timeZone, next, session, task }) => [
    terminalLine(name),
    status,
    terminalLine(times),
    next === undefined ? 'never' : formatInZone(next, timeZone),
    terminalLine(session === undefined ? task : `to session ${session}: ${task}`),
  ]);
  return formatTable(['SCHEDULE', 'STATUS', 'TIMES', 'NEXT', 'TASK'], rows);
}
