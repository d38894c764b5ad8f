import { printJson, printText, say } from '../../display/output.js';
import { ensureBackground } from '../../host/background.js';
import type { CliContext } from '../../host/context.js';
import type { PlaceOptions } from '../../host/workplace.js';
import { withSchedules } from './with-schedules.js';

/** The options of `schedule run`. */
export interface ScheduleRunOptions extends PlaceOptions {
  readonly json?: boolean;
  /** False with `--no-worker`. */
  readonly worker: boolean;
}

/** `schedule run NAME`: starts the task of a schedule now and prints the run ID, or the ID of the message to its session. */
export async function runSchedule(name: string, options: ScheduleRunOptions, context: CliContext): Promise<number> {
  const { json, worker, ...where } = options;
  const { output } = context;
  return await withSchedules(name, { where, context }, async (place) => {
    const { client, location, stateDir } = place;
    const started = await client.schedules.run(name);
    if (worker && location.kind === 'embedded' && !(await place.hasWorker())) {
      const { pid } = await ensureBackground(stateDir, where);
      say(output, `process ${pid} runs it in the background; stop it with: kill ${pid}`);
    }
    if (json) printJson(output, started);
    else printText(output, 'runId' in started ? started.runId : started.messageId);
    const next = 'runId' in started ? `perdure watch ${started.runId}` : `perdure session ${started.session}`;
    say(output, `follow it with: ${next}`);
    return 0;
  });
}
