import type { Command } from 'commander';
import { SESSION_UPDATES } from '../contracts/verbs/index.js';
import type { CliContext } from './host/context.js';
import { withDefaults, withJson, withPlace } from './options/command-options.js';
import { parseNumber } from './options/number.js';

/** Runs a verb and resolves to the exit status of the process. */
export type VerbRun = () => Promise<number>;

/** Runs the verb of a command line. */
export type CarryOut = (verb: VerbRun) => Promise<void>;

/** What registering a verb needs. */
export interface Registering {
  readonly program: Command;
  readonly context: CliContext;
  readonly carryOut: CarryOut;
}

/** Adds the commands of sessions. */
export function addSessions({ program, context, carryOut }: Registering): void {
  const { send, unsend } = SESSION_UPDATES;
  withDefaults(withPlace(program.command('chat')))
    .description('talk to a session, a conversation of runs: each line of stdin is a message')
    .option('--session <key>', 'key of the session (default: a new one); an existing session keeps its options')
    .option('--no-worker', 'start no worker: one must run elsewhere')
    .action((options) => carryOut(async () => (await import('./commands/sessions/chat.js')).chat(options, context)));
  const sending = withJson(withPlace(program.command(send.name)))
    .description(send.command?.summary ?? '')
    .argument('<key>', 'key of the session')
    .argument('<text>', send.command?.arguments?.text);
  for (const flag of Object.values(send.command?.flags ?? {})) sending.option(flag.flag, flag.help);
  sending.action((key, text, options) =>
    carryOut(async () => (await import('./commands/sessions/send.js')).send(key, text, options, context)),
  );
  withJson(withPlace(program.command(unsend.name)))
    .description(unsend.command?.summary ?? '')
    .argument('<key>', 'key of the session')
    .argument('<id>', unsend.command?.arguments?.id)
    .action((key, id, options) => carryOut(async () => (await import('./commands/sessions/unsend.js')).unsend(key, id, options, context)));
  withJson(withPlace(program.command('sessions')))
    .description('list sessions, newest first')
    .option('--limit <n>', 'maximum number of sessions (default: 50)', parseNumber)
    .action((options) => carryOut(async () => (await import('./commands/sessions/sessions.js')).sessions(options, context)));
  withJson(withPlace(program.command('session')))
    .description('show the active run, the queue and the last runs of a session')
    .argument('<key>', 'key of the session')
    .action((key, options) => carryOut(async () => (await import('./commands/sessions/session.js')).session(key, options, context)));
}
