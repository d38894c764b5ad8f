import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { SIGNALS, UPDATES, verbsOf } from '../contracts/verbs/index.js';
import type { AnyVerb, VerbFlag } from '../contracts/verbs/verb.js';
import type { CliContext } from './host/context.js';
import type { OfferedVerb } from './host/run-verb.js';
import { withAgent, withInput, withJson, withPlace, withRunOptions, withShow } from './options/command-options.js';
import { parseNumber } from './options/number.js';
import { addReadVerbs } from './read-verbs.js';
import { addSchedules } from './schedule-verbs.js';
import { addSessions, type CarryOut, type Registering, type VerbRun } from './session-verbs.js';

/**
 * Defines all commands and options. An action imports its command when it is called, so that `show` does not load the modules of `run`.
 * Calls `onExitCode` with the exit status of the command.
 */
export function createProgram(context: CliContext, onExitCode: (code: number) => void): Command {
  const program = new Command('perdure')
    .description('run LLM agents as durable Temporal workflows')
    .version(packageVersion(), '--version', 'print the version and exit')
    .helpOption('--help', 'print help and exit')
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true, subcommandTerm: nameWithArguments })
    .configureOutput({ writeOut: (text) => context.output.stdout.write(text), writeErr: () => undefined })
    .option('--debug', 'print stack traces of errors')
    .addHelpText('after', PROGRAM_HELP)
    .exitOverride();
  const carryOut = async (verb: VerbRun): Promise<void> => onExitCode(await verb());
  addRunVerbs(program, context, carryOut);
  addVerbs(verbsOf(SIGNALS), { program, context, carryOut });
  addVerbs(verbsOf(UPDATES), { program, context, carryOut });
  addReadVerbs({ program, context, carryOut });
  addSessions({ program, context, carryOut });
  addSchedules({ program, context, carryOut });
  addLookVerbs(program, context, carryOut);
  addHostVerbs(program, context, carryOut);
  addToolVerbs({ program, context, carryOut });
  addMcp(program, context, carryOut);
  addAcp(program, context, carryOut);
  addServe(program, context, carryOut);
  return program;
}

/** The command in the list of commands, such as `continue <run> [text]`. The word `[options]` is omitted to keep one line a command. */
function nameWithArguments(command: Command): string {
  const names = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...names].join(' ');
}

function addRunVerbs(program: Command, context: CliContext, carryOut: CarryOut): void {
  withRunOptions(program.command('run'))
    .description('run a task and follow it to its end; Ctrl-C detaches, in a terminal the second one')
    .argument('<task>', 'the task, in quotes')
    .option('--session <key>', 'send the task to this session as a message, whose ID is --id, and follow the run that answers it')
    .option('--events', 'print JSON Lines: events, streamed text and progress, then the result')
    .option('--detach', 'return immediately, like start')
    .action((task, options) => carryOut(async () => (await import('./commands/run.js')).run(task, options, context)));
  withRunOptions(program.command('start'))
    .description('start a task in the background and print its run ID')
    .argument('<task>', 'the task, in quotes')
    .option('--session <key>', 'session label; the run gets no messages of the session')
    .action((task, options) => carryOut(async () => (await import('./commands/start.js')).start(task, options, context)));
  withInput(withShow(withPlace(program.command('continue'))))
    .description('continue a closed run as a new run, RUN.2, RUN.3 …; options that are not given stay the same')
    .argument('<run>', 'ID of the closed run')
    .argument('[text]', 'the next task, in quotes', 'Continue.')
    .option('--no-worker', 'start no worker: one must run elsewhere')
    .action((run, text, options) =>
      carryOut(async () => (await import('./commands/continue.js')).continueRun(run, text, options, context)),
    );
  withShow(withPlace(program.command('watch')))
    .description('follow a run to its end')
    .argument('<run>', 'run ID')
    .option('--no-worker', 'start no worker: one must run elsewhere')
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
    .argument('<run>', 'run ID');
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

function addLookVerbs(program: Command, context: CliContext, carryOut: CarryOut): void {
  withJson(program.command('models'))
    .description('list models with context window, prices and abilities')
    .argument('[filter]', 'part of a model name')
    .option('--provider <name>', 'list only the models of this provider')
    .option('--all', 'include providers without a configured key')
    .option('--ask', 'query the providers, not only the built-in list')
    .action((filter, options) => carryOut(async () => (await import('./commands/models.js')).models(filter, options, context)));
  withJson(program.command('agents'))
    .description('list agents, or show the models, tools, limits and prompt of one')
    .argument('[name]', 'name of an agent')
    .option('--workspace <dir>', 'show the prompt for runs in this folder')
    .action((name, options) => carryOut(async () => (await import('./commands/agents.js')).agents(name, options, context)));
  withJson(program.command('prompt'))
    .description('preview the system prompt of a new run, with the size of each section')
    .argument('[task]', 'the task, in quotes; Perdure selects skills by it')
    .option('--agent <name>', 'agent from the config')
    .option('--workspace <dir>', 'folder in which the agent can read and write files and run commands')
    .option('--model <provider/model>', 'model of the run')
    .option('--var <name=value>', 'variable of the run; repeat the option for several', addValue)
    .action((task, options) => carryOut(async () => (await import('./commands/prompt.js')).prompt(task, options, context)));
  withJson(program.command('replay'))
    .description('check that saved histories replay with the current workflow code')
    .argument('<file...>', "history as JSON, from the Web UI or from 'temporal workflow show --output json'")
    .action((files, options) => carryOut(async () => (await import('./commands/replay.js')).replay(files, options, context)));
  withJson(withPlace(program.command('doctor')))
    .description('check server, worker, keys, workspace and sandbox')
    .option('--fix', 'register missing search attributes')
    .option('--workspace <dir>', 'also check this folder')
    .action((options) => carryOut(async () => (await import('./commands/doctor.js')).doctor(options, context)));
}

function addHostVerbs(program: Command, context: CliContext, carryOut: CarryOut): void {
  withJson(program.command('init'))
    .description('write a starter project that needs no API key')
    .argument('[folder]', 'folder of the project, created if missing', '.')
    .action((folder, options) => carryOut(async () => (await import('./commands/init.js')).init(folder, options, context)));
  program
    .command('sign')
    .description('sign the JSON input of a request to the embedded server, for clients in other languages')
    .argument('<verb>', 'start, send, approve, answer or extend')
    .argument('<run>', 'run ID; for send, session/KEY')
    .argument('<json>', 'the input, in quotes, such as \'{"task": "…"}\'')
    .action((verb, run, json) => carryOut(async () => (await import('./commands/sign.js')).sign({ verb, run, json }, context)));
  withPlace(program.command('worker'))
    .description('run a worker, restarted if it dies, until SIGTERM or Ctrl-C')
    .option('--spare', 'keep a second process ready to take over if the worker dies')
    .option('--no-supervisor', 'run the worker in this process; it is not restarted if it dies')
    .action((options) => carryOut(async () => (await import('./commands/worker.js')).worker(options, context)));
  withPlace(program.command('dev'))
    .description('for development: run a worker, and Temporal with its Web UI if no server is configured')
    .option('--until-idle', 'exit 10 s after the last open run ends')
    .option('--port <n>', 'port of the embedded server, + 1000 for its Web UI (default: as at the last start, if free)', parseNumber)
    .option('--open', 'disable signatures: every user of this machine and the Web UI can start runs, approve calls and raise limits')
    .action((options) => carryOut(async () => (await import('./commands/dev.js')).dev(options, context)));
}

function addToolVerbs({ program, context, carryOut }: Registering): void {
  const tool = program.command('tool').description('create, list and test tools').helpCommand(false);
  tool
    .command('new')
    .description('write a tool and its test into the project')
    .argument('<name>', 'name of the tool, such as read_ticket')
    .option('--effect <effect>', 'side effect of the tool: read, idempotent or once (default: once)')
    .option('--schema <kind>', 'schema of the arguments: zod or json (default: zod)')
    .option('--json', 'print one JSON document')
    .action((name, options) => carryOut(async () => (await import('./commands/tool/tool-new.js')).toolNew(name, options, context)));
  withJson(tool.command('test'))
    .description('call one tool of the config, outside any run')
    .argument('<name>', 'name of a tool')
    .argument('[arguments]', 'the arguments as JSON, in quotes', '{}')
    .option('--workspace <dir>', 'workspace of the tool')
    .action((name, args, options) =>
      carryOut(async () => (await import('./commands/tool/tool-test.js')).toolTest(name, args, options, context)),
    );
  withJson(tool.command('list'))
    .description('list tools with their side effects, and where they are defined')
    .action((options) => carryOut(async () => (await import('./commands/tool/tool-list.js')).toolList(options, context)));
}

function addMcp(program: Command, context: CliContext, carryOut: CarryOut): void {
  withPlace(program.command('mcp'))
    .description('run an MCP server over stdin and stdout, or HTTP; it starts and steers runs')
    .option('--workspace <dir>', 'default workspace of runs; the client can choose only folders inside it')
    .option('--http', 'serve over HTTP with a token, until Ctrl-C')
    .option('--port <n>', 'port of --http (default: 8788)', parseNumber)
    .option('--host <address>', 'address of --http (default: 127.0.0.1)')
    .option('--no-approvals', 'do not let the client approve or deny tool calls, or answer questions')
    .option('--no-worker', 'start no worker: one must run elsewhere')
    .action((options) => carryOut(async () => (await import('./commands/mcp.js')).mcp(options, context, packageVersion())));
}

function addAcp(program: Command, context: CliContext, carryOut: CarryOut): void {
  withAgent(withInput(withPlace(program.command('acp'))))
    .description('run an Agent Client Protocol server for an editor; each conversation is a session, each prompt a run')
    .option('--no-worker', 'start no worker: one must run elsewhere')
    .action((options) => carryOut(async () => (await import('./commands/acp.js')).acp(options, context, packageVersion())));
}

function addServe(program: Command, context: CliContext, carryOut: CarryOut): void {
  withPlace(program.command('serve'))
    .description('run an HTTP server that starts, steers and streams runs; clients need a token')
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .option('--port <n>', 'port to listen on (default: 8787)', parseNumber)
    .option('--tokens <file>', 'JSON file of token hashes with tenants and rights (default: from the config, else one generated token)')
    .option('--workspace <dir>', 'default workspace of runs; clients can choose only folders inside it')
    .option('--public-origin <origin>', 'origin that browsers see if a proxy is in front, such as https://agents.example.com')
    .option('--no-worker', 'start no worker: one must run elsewhere')
    .action((options) => carryOut(async () => (await import('./commands/serve.js')).serve(options, context, packageVersion())));
}

/** Collects the values of a repeated option as they are. */
const addValue = (text: string, soFar: readonly string[] = []): readonly string[] => [...soFar, text];

function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : 'unknown';
}

/** The text of `perdure --help` below the list of commands. */
const PROGRAM_HELP = `
Examples:
  perdure init my-agents
  perdure run 'add a test for the parser' --workspace . --max-turns 30
  perdure run 'add a test' --model anthropic/claude-sonnet-5 --thinking low
  perdure start 'write the release notes' --workspace .
  perdure steer RUN 'do not edit the changelog'
  perdure approvals
  perdure chat --session release
  perdure continue RUN 'now fix the warnings'

Runs are durable. If a worker dies, its runs continue on the next one, such as
'perdure worker' in the same folder. If no Temporal server is configured,
Perdure starts an embedded one. The state folder is .perdure; set PERDURE_DIR
to use another folder.

Exit status:
  0    success; for run, watch and continue: completed, or Ctrl-C detached
  1    failure; for run, watch and continue: an error, or the model refused
  2    invalid input
  3    not found
  4    conflict, such as a closed run or a run ID in use
  5    server or worker not reachable
  6    for run, watch and continue: limit reached, or a loop
  130  for run, watch and continue: cancelled`;
