import { type Command, Option } from 'commander';
import { parseNumber } from './number.js';

/** Adds the options of every command that connects to Temporal. */
export function withPlace(command: Command): Command {
  return command
    .option('--address <host:port>', 'Temporal server (default: from TEMPORAL_* or temporal.toml, else the embedded server)')
    .option('--namespace <name>', 'Temporal namespace')
    .option('--task-queue <name>', 'task queue of the workers (default: perdure)');
}

/** Adds `--json`. */
export function withJson(command: Command): Command {
  return command.option('--json', 'print one JSON document');
}

/** Adds the options of the commands that follow a run. */
export function withShow(command: Command): Command {
  return withJson(command).option('--events', 'print JSON Lines: events, streamed text and progress, then the result');
}

/** Adds the options of a run's input. */
export function withInput(command: Command): Command {
  return command
    .option('--model <provider/model>', 'model, such as openai/gpt-5.4-mini or gpt-5.4-mini; scripted/FILE plays recorded responses')
    .option('--fallback <provider/model>', 'model to fail over to; for several, repeat the option or separate with commas', addToList)
    .option('--thinking <level>', 'thinking level: off, minimal, low, medium, high, or a number of tokens', parseNumber)
    .option('--max-turns <n>', 'maximum number of turns (default: from the agent or the config, else 20)', parseNumber)
    .option('--max-cost <usd>', 'maximum cost of a run in USD', parseNumber)
    .option('--max-tokens <n>', 'maximum number of tokens of a run, input plus output', parseNumber)
    .option('--deadline <duration>', 'time limit, such as 90s or 10m; excludes pauses and waits for people')
    .option(
      '--on-budget <what>',
      "at a limit: 'finish' writes a final answer, 'ask' waits for 'perdure extend' (default: from the agent, else finish)",
    )
    .option('--allow-unknown-price', 'start although the price is unknown; --max-cost is then not enforced')
    .option('--output-schema <file>', 'file with the JSON Schema of the answer')
    .option('--chat', "one model response per run, without tools; unlike 'perdure chat'");
}

/** The options that each run of a session has too. */
export function withDefaults(command: Command): Command {
  return withAgent(withInput(command)).option('--workspace <dir>', 'folder in which the agent can read and write files and run commands');
}

/** Adds the options of who runs, for whom. */
export function withAgent(command: Command): Command {
  return command
    .option('--agent <name>', 'agent from the config')
    .addOption(new Option('--i-know', 'allow the root or home folder as workspace').hideHelp())
    .option('--tenant <name>', 'tenant whose limits apply to the run');
}

/** Adds the options of `run` and `start`. */
export function withRunOptions(command: Command): Command {
  return withDefaults(withJson(withPlace(command)))
    .option('--id <run-id>', 'run ID; a second start attaches to the run if its input is the same, else fails')
    .option('--no-worker', 'start no worker: one must run elsewhere');
}

/** Collects the values of a repeated option. A value may hold several names, separated by commas. */
function addToList(text: string, soFar: readonly string[] = []): readonly string[] {
  return [...soFar, ...text.split(',').flatMap((name) => name.trim() || [])];
}
