import { withDefaults, withJson, withPlace } from './options/command-options.js';
import { parseNumber } from './options/number.js';
import type { Registering } from './session-verbs.js';

/** Adds the commands of schedules. */
export function addSchedules({ program, context, carryOut }: Registering): void {
  const schedule = program.command('schedule').description('start tasks at fixed times').helpCommand(false);
  withDefaults(withJson(withPlace(schedule.command('create'))))
    .description('create a schedule that starts a task at fixed times')
    .argument('<name>', 'name of the schedule')
    .argument('<task>', 'the task, in quotes')
    .option('--cron <expression>', "five fields: minute, hour, day of month, month, day of week, such as '0 8 * * 1-5'")
    .option('--every <duration>', 'interval, such as 30m or 6h, aligned to 1970-01-01 00:00 UTC')
    .option('--at <time>', 'daily time, such as 08:00, or single time, such as 2030-01-31T08:00')
    .option('--time-zone <name>', 'time zone of --cron and --at, such as Europe/Berlin (default: that of this host)')
    .option(
      '--overlap <policy>',
      'while an earlier run is active: skip, buffer-one, buffer-all, cancel-other or allow-all (default: skip); not with --session',
    )
    .option('--catch-up <duration>', 'start a missed run late, up to this delay (default: 1h)')
    .option('--session <key>', 'send the task to this session (default: start a new run each time)')
    .action((name, task, options) =>
      carryOut(async () => (await import('./commands/schedule/create.js')).createSchedule({ name, task }, options, context)),
    );
  withJson(withPlace(schedule.command('ls')))
    .description('list schedules with their next start')
    .option('--limit <n>', 'maximum number of schedules (default: 50)', parseNumber)
    .action((options) => carryOut(async () => (await import('./commands/schedule/ls.js')).listSchedules(options, context)));
  withJson(withPlace(schedule.command('show')))
    .description('show the times, the policies and the last starts of a schedule')
    .argument('<name>', 'name of the schedule')
    .action((name, options) => carryOut(async () => (await import('./commands/schedule/show.js')).showSchedule(name, options, context)));
  addChanges({ program: schedule, context, carryOut });
}

/** The commands that change a schedule, or start its task. */
function addChanges({ program: schedule, context, carryOut }: Registering): void {
  withJson(withPlace(schedule.command('pause')))
    .description('pause a schedule; active runs continue')
    .argument('<name>', 'name of the schedule')
    .option('--note <text>', 'reason, shown to other operators')
    .action((name, options) => carryOut(async () => (await import('./commands/schedule/change.js')).pauseSchedule(name, options, context)));
  withJson(withPlace(schedule.command('resume')))
    .description('resume a paused schedule')
    .argument('<name>', 'name of the schedule')
    .action((name, options) =>
      carryOut(async () => (await import('./commands/schedule/change.js')).resumeSchedule(name, options, context)),
    );
  withJson(withPlace(schedule.command('run')))
    .description('start the task of a schedule now')
    .argument('<name>', 'name of the schedule')
    .option('--no-worker', 'start no worker: one must run elsewhere')
    .action((name, options) => carryOut(async () => (await import('./commands/schedule/run.js')).runSchedule(name, options, context)));
  withJson(withPlace(schedule.command('delete')))
    .description('delete a schedule; active runs continue')
    .argument('<name>', 'name of the schedule')
    .action((name, options) =>
      carryOut(async () => (await import('./commands/schedule/change.js')).deleteSchedule(name, options, context)),
    );
}
