import type { RunHandle } from '../../client/run-handle.js';
import { checkVerbInput } from '../../client/validate/run-input.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { AnyVerb, VerbFlag } from '../../contracts/verbs/verb.js';
import { printJson, say } from '../display/output.js';
import { currentUser } from '../follow/current-user.js';
import { parseDuration } from '../options/duration.js';
import type { CliContext } from './context.js';
import { sayNoWorker, startWorker, wakeWorker } from './wake-worker.js';
import { noSuchRun, openPlaceIfThere, type PlaceOptions } from './workplace.js';

/** The options of a verb that can print JSON. */
export interface JsonOptions extends PlaceOptions {
  readonly json?: boolean;
}

/** A verb of the table that the command line offers. */
export type OfferedVerb = AnyVerb & Required<Pick<AnyVerb, 'command'>>;

/** The command line of one verb: texts behind the run, and options by the names that commander gives them. */
export interface VerbLine {
  readonly runId: string;
  readonly texts: readonly string[];
  readonly options: JsonOptions & Readonly<Record<string, unknown>>;
}

/**
 * Runs a verb of the table on a run. Its input is checked before anything is sent. A worker answers an update, so on the embedded server
 * one is started when none is alive; a signal is kept by the server until a worker connects.
 */
export async function runVerb(verb: OfferedVerb, line: VerbLine, { output, interrupts }: CliContext): Promise<number> {
  const { runId, options } = line;
  const input = checkVerbInput(verb, inputOf(verb, line));
  const tell = (text: string): void => say(output, text);
  const place = await openPlaceIfThere(options, tell);
  if (!place) throw noSuchRun(runId);
  try {
    const run = place.client.get(runId);
    if (verb.kind === 'update') await wakeWorker(place, run, { tell, signal: interrupts.signal });
    const { answer, closed } = await send(verb, run, input);
    const report = verb.command.report({ runId, input, answer, ...(closed === undefined ? {} : { closed }) });
    if (options.json) printJson(output, { runId, ...report.json });
    else tell(report.line);
    if (verb.kind === 'signal' && closed === undefined && !(await place.hasWorker())) {
      if (verb.command.withoutWorker === 'start') await startWorker(place, tell);
      else sayNoWorker(place, tell);
    }
    return 0;
  } finally {
    await place.close();
  }
}

async function send(
  verb: OfferedVerb,
  run: RunHandle,
  input: Readonly<Record<string, unknown>>,
): Promise<{ answer: unknown; closed?: string }> {
  try {
    return { answer: await run.send(verb, input) };
  } catch (error) {
    if (!verb.command.acceptsClosed || !(error instanceof PerdureError) || error.code !== 'RUN_CLOSED') throw error;
    return { answer: {}, closed: (await run.describe()).status };
  }
}

/** The input that a command line gives: texts and options by the names of the verb's fields. */
function inputOf(verb: OfferedVerb, { texts, options }: VerbLine): Readonly<Record<string, unknown>> {
  const { arguments: named = {}, flags = {} } = verb.command;
  const positional = Object.keys(named).map((field, index) => [field, texts[index]] as const);
  const given = Object.entries<VerbFlag | undefined>(flags).flatMap(([field, flag]) => {
    const value = flag && flagValue(flag, options[optionName(flag)]);
    return value === undefined ? [] : [[field, value] as const];
  });
  if (verb.atLeastOne && given.length === 0)
    throw new PerdureError('BAD_OPTION', `${verb.name}: give at least one of ${flagNames(flags)}`, 2);
  return Object.fromEntries([...positional, ...given]);
}

function flagValue(flag: VerbFlag, given: unknown): unknown {
  if (given === undefined) return defaultOf(flag);
  return flag.kind === 'duration' ? parseDuration(typeof given === 'string' ? given : '', optionName(flag), flag.bounds) : given;
}

function defaultOf(flag: VerbFlag): string | undefined {
  if (flag.default === 'user') return currentUser();
  return flag.default === 'command line' ? 'the command line' : undefined;
}

/** The name of the option as commander gives it: `--max-cost <usd>` is `maxCost`. */
function optionName({ flag }: VerbFlag): string {
  const [name = ''] = flag.replace(/^--/u, '').split(' ');
  return name.replaceAll(/-(?<letter>[a-z])/gu, (_, letter: string) => letter.toUpperCase());
}

function flagNames(flags: Readonly<Record<string, VerbFlag | undefined>>): string {
  return Object.values(flags)
    .map((flag) => flag?.flag.split(' ')[0])
    .join(', ');
}
