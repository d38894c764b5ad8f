import { withJson, withPlace } from './options/command-options.js';
import { parseNumber } from './options/number.js';
import type { Registering } from './session-verbs.js';

/** Adds the commands that read runs and change nothing. */
export function addReadVerbs({ program, context, carryOut }: Registering): void {
  withJson(withPlace(program.command('approvals')))
    .description('list pending approvals and questions')
    .argument('[run]', 'run ID (default: all open runs)')
    .action((run, options) => carryOut(async () => (await import('./commands/read/approvals.js')).approvals(run, options, context)));
  withJson(withPlace(program.command('show')))
    .description('show the status and the result of a run')
    .argument('<run>', 'run ID')
    .option('--watch', 'show the status at each change, until the run ends')
    .action((run, options) => carryOut(async () => (await import('./commands/read/show.js')).show(run, options, context)));
  withJson(withPlace(program.command('ls')))
    .description('list runs, newest first')
    .option('--open', 'list only open runs')
    .option('--closed', 'list only closed runs')
    .option('--status <status>', 'list only runs with this status, such as waiting or completed')
    .option('--agent <name>', 'list only the runs of this agent')
    .option('--session <key>', 'list only the runs of this session, with their total cost')
    .option('--tenant <name>', 'list only the runs of this tenant')
    .option('--since <time>', 'list only runs that started since this ISO 8601 time, or within this duration, such as 2h')
    .option('--limit <n>', 'maximum number of runs (default: 50)', parseNumber)
    .action((options) => carryOut(async () => (await import('./commands/read/ls.js')).ls(options, context)));
  addRunRecords({ program, context, carryOut });
}

/** The commands that read what a worker keeps of a run. */
function addRunRecords({ program, context, carryOut }: Registering): void {
  withJson(withPlace(program.command('transcript')))
    .description('print the messages of a run')
    .argument('<run>', 'run ID')
    .option('--turn <n>', 'print only the messages of this turn; the task is turn 0', parseNumber)
    .action((run, options) => carryOut(async () => (await import('./commands/read/transcript.js')).transcript(run, options, context)));
  withJson(withPlace(program.command('events')))
    .description('print the events of a run, oldest first')
    .argument('<run>', 'run ID')
    .option('--after <n>', 'print only the events after this number', parseNumber)
    .option('--type <type...>', 'print only events of these types, such as tool.call')
    .action((run, options) => carryOut(async () => (await import('./commands/read/events.js')).events(run, options, context)));
  withJson(withPlace(program.command('steers')))
    .description('print the delivery state of each message that was sent to a run')
    .argument('<run>', 'run ID')
    .action((run, options) => carryOut(async () => (await import('./commands/read/steers.js')).steers(run, options, context)));
}
