import { readFileSync } from 'node:fs';
import { Command, type CommanderError, Option } from 'commander';
import { PerdureError } from '../contracts/perdure-error.js';
import { SIGNALS, UPDATES, verbsOf } from '../contracts/verbs/index.js';
import type { AnyVerb, VerbFlag } from '../contracts/verbs/verb.js';
import type { CliContext } from './host/context.js';
import type { OfferedVerb } from './host/run-verb.js';

/** Runs a verb and resolves to the exit status of the process. */
type VerbRun = () => Promise<number>;

/**
 * All verbs and options. An action loads its verb only when it is called, so that `show` does not wait for what `run` needs.
 * `onExitCode` is told the exit status of the verb that ran.
 */
export function createProgram(context: CliContext, onExitCode: (code: number) => void): Command {
  const program = new Command('perdure')
    .description('LLM agents that outlast their workers: every run a Temporal workflow, every model and tool call an activity.')
    .version(packageVersion(), '--version', 'print the version')
    .helpOption('--help', 'show help')
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: (text) => context.output.stdout.write(text), writeErr: () => undefined })
    .option('--debug', 'show stack traces of errors')
    .addHelpText('after', PROGRAM_HELP)
    .exitOverride();
  const carryOut = async (verb: VerbRun): Promise<void> => onExitCode(await verb());
  addRunVerbs(program, context, carryOut);
  addVerbs(verbsOf(SIGNALS), { program, context, carryOut });
  addApprovals({ program, context, carryOut });
  addVerbs(verbsOf(UPDATES), { program, context, carryOut });
  addLookVerbs(program, context, carryOut);
  addHostVerbs(program, context, carryOut);
  return program;
}

type CarryOut = (verb: VerbRun) => Promise<void>;

/** What registering a verb needs. */
interface Registering {
  readonly program: Command;
  readonly context: CliContext;
  readonly carryOut: CarryOut;
}

function addRunVerbs(program: Command, context: CliContext, carryOut: CarryOut): void {
  withRunOptions(program.command('run'))
    .description('run a task and show it to its end; Ctrl-C lets go of it, and it goes on later')
    .argument('<task>', 'what to do, in quotes')
    .option('--events', 'print JSON Lines: events, tokens, progress, and the result as the last line')
    .option('--detach', 'come back at once: the same as start')
    .action((task, options) => carryOut(async () => (await import('./commands/run.js')).run(task, options, context)));
  withRunOptions(program.command('start'))
    .description('start a task and come back; a worker in the background sees to it')
    .argument('<task>', 'what to do, in quotes')
    .action((task, options) => carryOut(async () => (await import('./commands/start.js')).start(task, options, context)));
  withInput(withShow(withPlace(program.command('continue'))))
    .description('go on from where a closed run ended, as RUN.2, RUN.3 …')
    .argument('<run>', 'the id of the closed run')
    .argument('[text]', 'what to do now', 'Continue.')
    .option('--no-worker', 'host no worker in this command')
    .action((run, text, options) =>
      carryOut(async () => (await import('./commands/continue.js')).continueRun(run, text, options, context)),
    );
  withShow(withPlace(program.command('watch')))
    .description('show a run to its end and exit by its reason')
    .argument('<run>', 'the id of the run')
    .option('--no-worker', 'host no worker in this command')
    .action((run, options) => carryOut(async () => (await import('./commands/watch.js')).watch(run, options, context)));
}

/** The verbs of a table, in its order. Each needs no code of its own here. */
function addVerbs(verbs: readonly AnyVerb[], { program, context, carryOut }: Registering): void {
  for (const verb of verbs) {
    const { command } = verb;
    if (command) addVerb({ ...verb, command }, { program, context, carryOut });
  }
}

function addVerb(verb: OfferedVerb, { program, context, carryOut }: Registering): void {
  const { summary, arguments: texts = {}, flags = {} } = verb.command;
  const command = withJson(withPlace(program.command(verb.name)))
    .description(summary)
    .argument('<run>', 'the id of the run');
  for (const [field, help] of Object.entries<string | undefined>(texts)) command.argument(`<${ARGUMENT_NAMES[field] ?? field}>`, help);
  for (const flag of Object.values<VerbFlag | undefined>(flags)) {
    if (flag?.kind === 'number') command.option(flag.flag, flag.help, parseNumber);
    else if (flag) command.option(flag.flag, flag.help);
  }
  command.action((runId: string, ...rest: unknown[]) =>
    carryOut(async () => {
      // commander gives the arguments, then the options, then the command itself
      const given = rest.slice(0, Object.keys(texts).length).map(String);
      return (await import('./host/run-verb.js')).runVerb(verb, { runId, texts: given, options: command.opts() }, context);
    }),
  );
}

/** The names of arguments in the help, where they differ from the field. */
const ARGUMENT_NAMES: Readonly<Record<string, string>> = { callId: 'call' };

function addApprovals({ program, context, carryOut }: Registering): void {
  withJson(withPlace(program.command('approvals')))
    .description('list pending approvals')
    .argument('[run]', 'the id of the run (default: all open ones)')
    .action((run, options) => carryOut(async () => (await import('./commands/approvals.js')).approvals(run, options, context)));
}

function addLookVerbs(program: Command, context: CliContext, carryOut: CarryOut): void {
  withJson(withPlace(program.command('show')))
    .description('show where a run stands, or how it ended')
    .argument('<run>', 'the id of the run')
    .action((run, options) => carryOut(async () => (await import('./commands/show.js')).show(run, options, context)));
  withJson(withPlace(program.command('ls')))
    .description('list runs, newest first')
    .option('--open', 'only runs that have not ended')
    .option('--closed', 'only runs that have ended')
    .option('--session <key>', 'only runs of this conversation, and what they cost together')
    .option('--limit <n>', 'at most so many (default: 50)', parseNumber)
    .action((options) => carryOut(async () => (await import('./commands/ls.js')).ls(options, context)));
  withJson(program.command('models'))
    .description('list the models that can be chosen, with window, prices and abilities')
    .argument('[filter]', 'a part of provider/model')
    .option('--provider <name>', 'only the models of this provider')
    .option('--all', 'also those of providers without a key')
    .option('--ask', 'ask the servers which models they have')
    .action((filter, options) => carryOut(async () => (await import('./commands/models.js')).models(filter, options, context)));
  withJson(program.command('replay'))
    .description('check that saved histories still replay with the present workflow code')
    .argument('<file...>', 'histories as JSON, from the Web UI or: temporal workflow show --output json')
    .action((files, options) => carryOut(async () => (await import('./commands/replay.js')).replay(files, options, context)));
  withJson(withPlace(program.command('doctor')))
    .description('check server, worker, keys, workspace and sandbox, and say what to do')
    .option('--fix', 'register missing search attributes')
    .option('--workspace <dir>', 'check this folder too')
    .action((options) => carryOut(async () => (await import('./commands/doctor.js')).doctor(options, context)));
}

function addHostVerbs(program: Command, context: CliContext, carryOut: CarryOut): void {
  withPlace(program.command('worker'))
    .description('work on the queue until SIGTERM or Ctrl-C')
    .action((options) => carryOut(async () => (await import('./commands/worker.js')).worker(options, context)));
  withPlace(program.command('dev'))
    .description('run the server with its Web UI and a worker, until Ctrl-C')
    .option('--until-idle', 'end 10 s after the last open run')
    .action((options) => carryOut(async () => (await import('./commands/dev.js')).dev(options, context)));
}

function withPlace(command: Command): Command {
  return command
    .option('--address <host:port>', "the Temporal server (default: TEMPORAL_* and temporal.toml, else this folder's own)")
    .option('--namespace <name>', 'its namespace')
    .option('--task-queue <name>', 'the queue of the workers (default: perdure)');
}

function withJson(command: Command): Command {
  return command.option('--json', 'print one JSON document');
}

function withShow(command: Command): Command {
  return withJson(command).option('--events', 'print JSON Lines: events, tokens, progress, and the result as the last line');
}

function withInput(command: Command): Command {
  return command
    .option('--model <provider/model>', 'such as openai/gpt-5.4-mini, a name that providers are asked for, or scripted/FILE (no key)')
    .option('--fallback <provider/model>', 'asked when the model fails; several in order, by commas or again', addToList)
    .option('--thinking <level>', 'off, minimal, low, medium, high, or a number of tokens', parseNumber)
    .option('--max-turns <n>', 'end after so many turns (default: 20)', parseNumber)
    .option('--max-cost <usd>', 'end before it costs more', parseNumber)
    .option('--max-tokens <n>', 'end before it uses more tokens, input and output', parseNumber)
    .option('--deadline <duration>', 'end after so much working time, such as 90s or 10m')
    .option('--on-budget <what>', 'at the cap of turns, money, tokens or time: finish with an answer, or ask a person (default: finish)')
    .option('--allow-unknown-price', 'start with --max-cost although the price of the model is unknown; the cap is then not kept')
    .option('--output-schema <file>', 'a file with the JSON Schema that the answer must fit')
    .option('--chat', 'answer in exactly one turn, without tools');
}

function withRunOptions(command: Command): Command {
  return withInput(withJson(withPlace(command)))
    .option('--agent <name>', 'one of the agents of the config')
    .option('--workspace <dir>', 'a folder the agent may read, change and run commands in')
    .addOption(new Option('--i-know', 'allow the root or home folder as workspace').hideHelp())
    .option('--session <key>', 'the conversation this run belongs to')
    .option('--id <run-id>', 'an id of yours: the same id and input twice is one run')
    .option('--no-worker', 'host no worker in this command');
}

/** What an option that may be given again has so far, and what this one adds. */
function addToList(text: string, soFar: readonly string[] = []): readonly string[] {
  return [...soFar, ...text.split(',').flatMap((name) => name.trim() || [])];
}

/** A mistake in the command line as an error with its code (exit 2); undefined when help or the version was asked for. */
export function commandLineError(error: CommanderError): PerdureError | undefined {
  if (error.exitCode === 0) return undefined;
  const [what = '', hint] = error.message.replace(/^error: /u, '').split('\n');
  const code = COMMAND_LINE_CODES[error.code] ?? 'BAD_USAGE';
  const quoted = /'(?<name>[^']+)'/u.exec(what)?.groups?.name;
  const text = quoted !== undefined && code.startsWith('UNKNOWN') ? quoted.slice(0, 80) : what.replace(/\. Expected .*$/u, '');
  const help = error.code === 'commander.help' ? "name a verb; 'perdure --help' lists them" : text;
  const near = hint === undefined ? '' : ` ${hint.replace('(Did', '(did')}`;
  return new PerdureError(code, `${help}${near}${error.code === 'commander.excessArguments' ? '; put the text in quotes' : ''}`, 2);
}

const COMMAND_LINE_CODES: Readonly<Record<string, string>> = {
  'commander.unknownOption': 'UNKNOWN_OPTION',
  'commander.unknownCommand': 'UNKNOWN_VERB',
  'commander.missingArgument': 'MISSING_ARGUMENT',
  'commander.optionMissingArgument': 'BAD_OPTION',
  'commander.excessArguments': 'BAD_USAGE',
};

function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : 'unknown';
}

/** What `perdure --help` says below the list of verbs. */
const PROGRAM_HELP = `
Examples:
  perdure run 'add a test for the parser' --workspace . --max-turns 30
  perdure run 'add a test' --model anthropic/claude-sonnet-5 --fallback openai-responses/gpt-5.4-mini --thinking low
  perdure start 'write the release notes' --workspace .     come back at once
  perdure steer RUN 'leave the changelog alone'             while it runs
  perdure approvals                                         what waits for a person; then approve or deny
  perdure continue RUN 'now fix the warnings'               after it ended
  perdure models                                            what can be chosen as a model

A run is kept by Temporal: kill anything at any moment, and it goes on with the next command in the same folder.
Without TEMPORAL_ADDRESS the server is this folder's own, with its state in .perdure (PERDURE_DIR names another folder).

Exit status of run, watch and continue: 0 completed or let go of, 1 error or refusal, 6 ended at a cap, 130 cancelled.
Of every verb: 2 bad input, 3 not found, 4 refused, 5 unreachable.`;

/** A number from the command line; what is none stays text, so that the check of the option can show what was given. Never throws. */
export function parseNumber(text: string): number | string {
  return /^-?\d+(?:\.\d+)?(?:e\d+)?$/iu.test(text) ? Number(text) : text;
}
