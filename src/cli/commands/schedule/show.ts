import type { ScheduleState } from '../../../client/schedules/describe-schedule.js';
import { writeDuration } from '../../../contracts/text/duration.js';
import { formatTable } from '../../display/format.js';
import { printJson, printText } from '../../display/output.js';
import { terminalLine } from '../../display/terminal-text.js';
import type { CliContext } from '../../host/context.js';
import type { PlaceOptions } from '../../host/workplace.js';
import { withSchedules } from './with-schedules.js';

/** The options of `schedule show`. */
export interface ScheduleShowOptions extends PlaceOptions {
  readonly json?: boolean;
}

/** `schedule show NAME`: shows the times, the policies, the last starts and the counts of a schedule. */
export async function showSchedule(name: string, { json, ...where }: ScheduleShowOptions, context: CliContext): Promise<number> {
  return await withSchedules(name, { where, context }, async ({ client }) => {
    const state = await client.schedules.show(name);
    if (json) printJson(context.output, state);
    else printText(context.output, formatSchedule(state));
    return 0;
  });
}

/** The state of a schedule as rows. Pure. */
export function formatSchedule(state: ScheduleState): string {
  const { name, status, times, timeZone, task, session, agent = 'default', overlap, catchUpMs, note } = state;
  const rows = [
    ['status', status],
    ['task', task],
    session === undefined ? ['agent', agent] : ['session', session],
    ['times', `${times} (${timeZone})`],
    ...state.upcoming.slice(0, SHOWN).map((iso, at) => [at === 0 ? 'next' : '', formatInZone(iso, timeZone)]),
    ['overlap', overlap],
    ['catch-up', writeDuration(catchUpMs)],
    ...(note === undefined ? [] : [['note', note]]),
    ['starts', startsOf(state)],
    ...state.recent
      .toReversed()
      .map(({ id, startedAt }, at) => [at === 0 ? 'last' : '', `${id}, started ${formatInZone(startedAt, timeZone)}`]),
  ];
  return formatTable(
    ['SCHEDULE', terminalLine(name)],
    rows.map((row) => row.map(terminalLine)),
  );
}

function startsOf({ started, missed, skipped, waiting, dropped }: ScheduleState): string {
  const more = [...(waiting > 0 ? [`waiting ${waiting}`] : []), ...(dropped > 0 ? [`dropped ${dropped}`] : [])];
  return [`${started}`, `missed ${missed}`, `skipped ${skipped}`, ...more].join(', ');
}

const SHOWN = 3;

/** `2030-01-31 08:00:00 Europe/Berlin`, from an ISO time. */
export function formatInZone(iso: string, timeZone: string): string {
  // the Swedish form is that of ISO 8601
  return `${new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(new Date(iso))} ${timeZone}`;
}
