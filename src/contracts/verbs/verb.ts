import { type Fault, type Fields, readFields } from './fields.js';
import { unreadableReason } from './unreadable.js';

/**
 * One verb that acts on a live run. The workflow sets its handler from it, the client checks and sends its input, the command line
 * offers it: each reads this one entry.
 */
export interface Verb<Input extends object, Answer> {
  /** The name of its handler, its client method and its command. */
  readonly name: string;
  /** A signal is durable without a worker. An update gives an answer, and is not durable until it is accepted. */
  readonly kind: 'signal' | 'update';
  /** Text beside the handler in the Web UI: what it does, and the shape of its input. */
  readonly description: string;
  readonly fields: Fields<Input>;
  /** Fields that an input must have, each with the fault of an input without it. */
  readonly required?: { readonly [Name in keyof Input]?: Fault };
  /** Fields of which an input must have at least one, and the fault of an input without. */
  readonly oneOfThese?: { readonly fields: readonly (keyof Input & string)[]; readonly fault: Fault };
  /** The code of every fault. @default the code of the field's fault */
  readonly code?: string;
  /** The input is refused when it has none of its fields. */
  readonly atLeastOne?: true;
  /** A bare string in place of an object is read as this field. */
  readonly bare?: keyof Input & string;
  /** The workflow takes what is usable of an input and drops the rest, because the verb matters more than its options. */
  readonly tolerant?: true;
  /** For an update: what its sender does when no receipt came. */
  resend?(input: Input): string;
  /** How the command line offers it. @default not offered */
  readonly command?: VerbCommand<Input, Answer>;
}

/** Any verb of a table, for loops over it. */
export type AnyVerb = Verb<Readonly<Record<string, unknown>>, unknown>;

/** One verb of the command line, without its options for the server and `--json`. */
export interface VerbCommand<Input extends object, Answer> {
  /** One line of `--help`. */
  readonly summary: string;
  /** Fields that stand as arguments behind the run, in order, each with its help. */
  readonly arguments?: { readonly [Name in keyof Input]?: string };
  readonly flags?: { readonly [Name in keyof Input]?: VerbFlag };
  /** Sending it to a closed run is no error. */
  readonly acceptsClosed?: true;
  /** Without a worker a signal waits in the server. `start`: on the embedded server a worker is started in the background. @default wait */
  readonly withoutWorker?: 'start' | 'wait';
  /** Fields of the `--json` document behind `runId`, and the line for a person. */
  report(facts: VerbFacts<Input, Answer>): { readonly json: object; readonly line: string };
}

/** An option of the command line that fills a field. */
export interface VerbFlag {
  /** As `--help` shows it, such as `--ttl <duration>`. */
  readonly flag: string;
  /** `duration`: given as `90s` or `10m`, sent as milliseconds. @default text */
  readonly kind?: 'text' | 'number' | 'duration';
  /** The limits of a duration, in milliseconds. @default none */
  readonly bounds?: { readonly leastMs: number; readonly mostMs: number };
  readonly help: string;
  /** `user`: the name of this system's user. */
  readonly default?: 'user' | 'command line';
}

/** The outcome of a verb that was sent. */
export interface VerbFacts<Input extends object, Answer> {
  readonly runId: string;
  readonly input: Input;
  readonly answer: Answer;
  /** The status of a run that was closed already. */
  readonly closed?: string;
}

/** An input as a verb reads it: `fault` is the first one that refuses it. */
export interface VerbReading<Input extends object> {
  readonly value: Input;
  readonly fault?: Fault;
}

/**
 * Reads the input of a verb. `strict` refuses the first fault of any field; otherwise only a required field that is missing is one.
 * The value is whole when there is no fault. Pure; never throws.
 */
export function readVerb<Input extends object>(verb: Verb<Input, unknown>, given: unknown, how: 'strict' | 'tolerant'): VerbReading<Input> {
  const { fields, required = {}, oneOfThese, atLeastOne, bare } = verb;
  const unreadable = unreadableReason(given);
  // without required fields a tolerant reading takes it as an input without options
  if (unreadable !== undefined && (how === 'strict' || oneOfThese || Object.keys(required).length > 0))
    return { value: {} as Input, fault: cannotRead(verb, unreadable) };
  const object = given === undefined ? {} : bare !== undefined && typeof given === 'string' ? { [bare]: given } : given;
  const { value, faults } = readFields(fields, object);
  // a value without a fault has every required field
  const whole = value as Input;
  const alternatives: readonly string[] = oneOfThese?.fields ?? [];
  const isEmpty = oneOfThese !== undefined && !alternatives.some((field) => field in value);
  const missing =
    missingField(required, value) ??
    (isEmpty ? oneOfThese.fault : undefined) ??
    (atLeastOne && Object.keys(value).length === 0 ? noneOf(verb) : undefined);
  const isNeeded = (field: string): boolean => (field in required && !(field in value)) || (isEmpty && alternatives.includes(field));
  const refused = faults.find(({ field }) => how === 'strict' || (field !== undefined && isNeeded(field)));
  const fault = refused ?? missing;
  if (!fault) return { value: whole };
  return { value: whole, fault: { code: verb.code ?? fault.code, message: fault.message } };
}

function cannotRead({ name }: { readonly name: string }, reason: string): Fault {
  return { code: 'UNREADABLE_PAYLOAD', message: `${name}: its payload cannot be decoded: ${reason}. Send it as JSON.` };
}

/** The fault of the first required field that the value lacks. */
function missingField(required: Readonly<Record<string, Fault | undefined>>, value: object): Fault | undefined {
  return Object.entries(required).find(([name]) => !Object.hasOwn(value, name))?.[1];
}

function noneOf({ name, fields }: { readonly name: string; readonly fields: object }): Fault {
  return { code: 'BAD_OPTION', message: `${name}: give at least one of ${Object.keys(fields).join(', ')}` };
}
