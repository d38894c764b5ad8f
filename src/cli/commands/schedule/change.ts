import type { AgentClient } from '../../../client/agent-client.js';
import { printJson, say } from '../../display/output.js';
import type { CliContext } from '../../host/context.js';
import type { PlaceOptions } from '../../host/workplace.js';
import { withSchedules } from './with-schedules.js';

/** The options of the commands that change a schedule. */
export interface ScheduleChangeOptions extends PlaceOptions {
  readonly json?: boolean;
}

/** The options of `schedule pause`. */
export interface SchedulePauseOptions extends ScheduleChangeOptions {
  readonly note?: string;
}

/** `schedule pause NAME`: it starts nothing until `resume`. */
export async function pauseSchedule(name: string, { note, ...options }: SchedulePauseOptions, context: CliContext): Promise<number> {
  return await change({ name, options, context, done: 'paused' }, ({ schedules }) => schedules.pause(name, note));
}

/** `schedule resume NAME`. */
export async function resumeSchedule(name: string, options: ScheduleChangeOptions, context: CliContext): Promise<number> {
  return await change({ name, options, context, done: 'resumed' }, ({ schedules }) => schedules.resume(name));
}

/** `schedule delete NAME`: what it started continues. */
export async function deleteSchedule(name: string, options: ScheduleChangeOptions, context: CliContext): Promise<number> {
  return await change({ name, options, context, done: 'deleted' }, ({ schedules }) => schedules.delete(name));
}

/** A change, and how its end is reported. */
interface Change {
  readonly name: string;
  readonly options: ScheduleChangeOptions;
  readonly context: CliContext;
  readonly done: 'paused' | 'resumed' | 'deleted';
}

async function change({ name, options, context, done }: Change, work: (client: AgentClient) => Promise<void>): Promise<number> {
  const { json, ...where } = options;
  return await withSchedules(name, { where, context }, async ({ client }) => {
    await work(client);
    if (json) printJson(context.output, { name, [done]: true });
    else say(context.output, `schedule ${name} ${done}`);
    return 0;
  });
}
