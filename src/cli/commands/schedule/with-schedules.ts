import { checkScheduleName } from '../../../client/schedules/schedule-options.js';
import { PerdureError } from '../../../contracts/perdure-error.js';
import { echoValue } from '../../../contracts/text/echo-value.js';
import { say } from '../../display/output.js';
import type { CliContext } from '../../host/context.js';
import { openPlaceIfThere, type Place, type PlaceOptions } from '../../host/workplace.js';

/** Where a command about one schedule looks for it. */
export interface ScheduleCommand {
  readonly where: PlaceOptions;
  readonly context: CliContext;
}

/** Runs a command about one schedule. Throws `BAD_SCHEDULE_NAME` (2), and `NO_SCHEDULE` (3) if the folder never had a server and none is configured. */
export async function withSchedules(
  name: string,
  { where, context }: ScheduleCommand,
  work: (place: Place) => Promise<number>,
): Promise<number> {
  checkScheduleName(name);
  const place = await openPlaceIfThere(where, (line) => say(context.output, line));
  if (!place) {
    const advice = 'this folder has no schedules and no server is configured; set TEMPORAL_ADDRESS or --address';
    throw new PerdureError('NO_SCHEDULE', `no schedule ${echoValue(name)}: ${advice}`, 3);
  }
  try {
    return await work(place);
  } finally {
    await place.close();
  }
}
