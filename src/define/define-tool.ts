import { z } from 'zod';
import { TOOL_LIMITS } from '../contracts/constants/limits.js';
import type { JsonCompatible } from '../contracts/json/json-compatible.js';
import type { JsonValue } from '../contracts/schemas/message.js';
import { Effect } from '../contracts/schemas/tool.js';
import { type JsonArguments, type JsonSchema, jsonArguments } from './tool/json-arguments.js';
import { foreignReference } from './tool/schema-references.js';

/** Second argument of `execute` and `reconcile`. */
export interface ToolContext {
  /** Id of the run. */
  readonly runId: string;
  /** Turn of the call, from 1. */
  readonly turn: number;
  /** Id of the call. */
  readonly callId: string;
  /** The same for every start of this call. Send it to services that deduplicate. */
  readonly idempotencyKey: string;
  /** Attempt as Temporal counts it, from 1. */
  readonly attempt: number;
  /** Absolute path of the run's workspace. Absent without a workspace. */
  readonly workspace?: string;
  /** Name of the agent. Absent in a run that a worker of an older version started. */
  readonly agent?: string;
  /**
   * Aborted on a cancel, a timeout, a shutdown of the worker, and when the worker loses contact with the server for too long. A tool that
   * ignores it is abandoned, with outcome `unknown`.
   */
  readonly signal: AbortSignal;
  /**
   * Asks the server whether this start of the call is still the current one. Call it right before an effect that must not happen twice.
   * Rejects if another worker may run the call by now, if the call is being stopped, or if there is no answer within 2 s.
   */
  assertOwned(): Promise<void>;
  /** Limits of the text that the model sees, and a collector for longer texts. */
  readonly output: ToolOutput;
  /** Shows a JSON value of at most 1 KiB under Pending Activities in the Web UI. */
  heartbeat(details: ToolReturn): void;
  /** Writes a line to the worker's log. */
  readonly log: { info(message: string): void; warn(message: string): void };
}

/**
 * Return value of a tool: text, any JSON-compatible value, or a list of content parts. `defineTool` refuses objects that are not JSON, such
 * as a Map, when it is compiled.
 */
export type ToolReturn = string | number | boolean | null | object;

/** Return value of `reconcile`: the state of a call whose worker was lost. */
export type Reconciled =
  | { readonly kind: 'done'; readonly result: ToolReturn }
  | { readonly kind: 'not_started' }
  | { readonly kind: 'unknown' };

/**
 * Thrown by a tool that cannot know whether its effect took place, for example when a connection broke after a request was sent. The outcome
 * of a `once` call is then `unknown`, and the model is told so. Of other calls, it is an ordinary failure. `message` says what is known.
 */
export class OutcomeUnknownError extends Error {
  override readonly name = 'OutcomeUnknownError';
}

/** True for the error of any copy of this package. Never throws. */
export function isOutcomeUnknown(error: unknown): error is Error {
  return error instanceof Error && error.name === 'OutcomeUnknownError';
}

/**
 * A tool that the model may call.
 *
 * Contract: `execute` may throw; the model sees the message as a failed result. With `effect: 'once'` it runs at most once per call. With
 * `idempotent` or `read` it may run again with the same `idempotencyKey`. `read` tools of one answer run in parallel. `reconcile` must
 * not change anything.
 */
export interface ToolDefinition<Args = unknown> {
  /** Name, as the model sees it: a letter or `_`, then up to 63 letters, digits, `_` or `-`. */
  readonly name: string;
  /** Description, as the model sees it. */
  readonly description: string;
  /** Arguments: a schema of zod 4, or the JSON Schema of an object. `defineTool` converts a JSON Schema to a zod schema. */
  readonly parameters: z.ZodType<Args>;
  /** JSON Schema of the arguments, as the model sees it. @default made from `parameters` */
  readonly schema?: Readonly<Record<string, JsonValue>>;
  /** Side effect, which decides about retries: `read`, `idempotent` or `once`. @default `once` */
  readonly effect: Effect;
  /** Time limit of a call in milliseconds: 1 s to an hour. @default 45 s */
  readonly timeoutMs: number;
  /** Of a `read` tool: equal arguments give an equal result, so a repeated call is answered from the transcript. @default false */
  readonly pure: boolean;
  /** False for a tool that reaches no other machine. The gate profile `no-network` allows it. @default unknown, treated as true */
  readonly network?: boolean;
  /** Whether a call waits for approval. A function returns true to wait. @default `never` */
  readonly approval: 'never' | 'always' | ((args: Args, context: { readonly runId: string }) => boolean);
  /** Finds out the state of a call whose worker was lost, within 30 s. @default none: an interrupted `once` call is `unknown` */
  readonly reconcile?: (args: Args, context: ToolContext) => Promise<Reconciled>;
  /** Runs the call. If it throws, the call fails and the model sees the message. An unhandled rejection also fails the call. */
  execute(args: Args, context: ToolContext): Promise<ToolReturn> | ToolReturn;
}

/** Options of `defineTool`. @default effect `once`, timeoutMs 45 s, pure false, approval `never` */
export type ToolOptions<Args> = Pick<ToolDefinition<Args>, 'name' | 'description' | 'parameters' | 'execute'> &
  Partial<Pick<ToolDefinition<Args>, 'effect' | 'schema' | 'timeoutMs' | 'pure' | 'network' | 'approval' | 'reconcile'>>;

/** The part of a tool's options that gives its result: any type whose values are JSON. */
interface ToolWork<Args, Result> {
  execute(args: Args, context: ToolContext): Promise<Result> | Result;
}

/** Refuses a result that is not JSON, such as a Map. */
interface JsonWork<Result> {
  execute(...args: never): JsonCompatible<Result> | Promise<JsonCompatible<Result>>;
}

/** Options of `defineTool` with a JSON Schema: the model sees it unchanged. */
export type JsonToolOptions<Args> = Omit<ToolOptions<Args>, 'parameters' | 'schema'> & { readonly parameters: JsonSchema };

/** Options of a wrapped tool of another framework, which has none of them. `description` replaces its own. */
export type WrapOptions = Partial<Omit<JsonToolOptions<JsonArguments>, 'name' | 'parameters' | 'execute'>>;

/** A tool with any type of arguments. */
// biome-ignore format: one idea
export type AnyToolDefinition = Omit<ToolDefinition, 'execute' | 'approval' | 'reconcile'> & {
  readonly approval: 'never' | 'always' | ((args: never, context: { readonly runId: string }) => boolean);
  readonly reconcile?: (args: never, context: ToolContext) => Promise<Reconciled>;
  execute(args: never, context: ToolContext): Promise<ToolReturn> | ToolReturn;
};

/**
 * Adds the defaults to a tool's options. `parameters` is a schema of zod 4, or a JSON Schema; with the latter, the arguments have the type
 * that you give them in `execute`. `Result` is any JSON-compatible type, interfaces too. A tool without `effect` is `once`: it is started at
 * most once. Throws a TypeError that names the field for an invalid name, effect, timeout, `pure` or `parameters`.
 */
export function defineTool<Args, Result>(
  options: Omit<ToolOptions<Args>, 'execute'> & ToolWork<Args, Result> & JsonWork<Result>,
): ToolDefinition<Args>;
export function defineTool<Result, Args extends object = JsonArguments>(
  options: Omit<JsonToolOptions<Args>, 'execute'> & ToolWork<Args, Result> & JsonWork<Result>,
): ToolDefinition<Args>;
export function defineTool(options: AnyToolOptions): AnyToolDefinition {
  const { effect = 'once', timeoutMs = TOOL_LIMITS.timeoutMsDefault, pure = false, approval = 'never' } = options;
  if (!TOOL_LIMITS.namePattern.test(options.name)) {
    throw new TypeError(
      `TOOL_NAME: tool name ${JSON.stringify(options.name.slice(0, 80))} is invalid. Use a letter or _, then up to 63 of a-z A-Z 0-9 _ -.`,
    );
  }
  if (!Effect.safeParse(effect).success) {
    throw new TypeError(`TOOL_EFFECT: tool "${options.name}" has effect ${JSON.stringify(effect)}. Use "read", "idempotent" or "once".`);
  }
  if (!Number.isInteger(timeoutMs) || timeoutMs < TOOL_LIMITS.timeoutMsMin || timeoutMs > TOOL_LIMITS.timeoutMsMax) {
    throw new TypeError(
      `TOOL_TIMEOUT: tool "${options.name}" has timeoutMs ${timeoutMs}. ` +
        `Use an integer from ${TOOL_LIMITS.timeoutMsMin} to ${TOOL_LIMITS.timeoutMsMax}.`,
    );
  }
  if (pure && effect !== 'read') {
    throw new TypeError(`TOOL_PURE: tool "${options.name}" is pure with effect "${effect}". Set effect "read", or remove pure.`);
  }
  return { ...options, ...argumentsOf(options), effect, timeoutMs, pure, approval };
}

/** The options of `defineTool`, with a schema of either kind. */
type AnyToolOptions = Pick<AnyToolDefinition, 'name' | 'description' | 'execute'> &
  Partial<Omit<AnyToolDefinition, 'parameters'>> & { readonly parameters: z.ZodType | JsonSchema };

/** The schema that checks the arguments, and the one that the model sees if it is not made from it. */
function argumentsOf({ name, parameters }: AnyToolOptions): Pick<AnyToolDefinition, 'parameters' | 'schema'> {
  if (isZodSchema(parameters)) return { parameters };
  const problem = parametersProblem(parameters);
  if (problem !== undefined) throw new TypeError(`TOOL_PARAMETERS: tool "${name}" has parameters that are ${problem}`);
  const schema = plainSchema(name, parameters);
  const foreign = foreignReference('parameters', schema);
  if (foreign !== undefined) throw new TypeError(`TOOL_PARAMETERS: tool "${name}" refers to another document: ${foreign}`);
  return { parameters: jsonArguments(parameters), schema };
}

function isZodSchema(parameters: z.ZodType | JsonSchema): parameters is z.ZodType {
  return typeof parameters === 'object' && parameters !== null && '_zod' in parameters;
}

/** A copy as the model sees it: without `$schema`, and without values that are not JSON. */
function plainSchema(name: string, parameters: JsonSchema): Record<string, JsonValue> {
  try {
    const { $schema: _, ...schema } = JSON.parse(JSON.stringify(parameters)) as Record<string, JsonValue>;
    return schema;
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw new TypeError(`TOOL_PARAMETERS: tool "${name}" has a schema that is not JSON: ${reason}`, { cause: error });
  }
}

/** Plain JavaScript and other copies of zod give anything. Conversion to JSON Schema is checked with the whole config. */
function parametersProblem(given: unknown): string | undefined {
  const isObject = typeof given === 'object' && given !== null;
  if (isObject && '_def' in given) return 'a schema of zod 3. Use zod 4, or JSON Schema.';
  if (isObject && 'type' in given && given.type === 'object') return undefined;
  return 'not a schema of an object. Use z.strictObject({ … }) of zod 4, or JSON Schema: { type: "object", properties: { … } }.';
}

/** True for a tool made with `defineTool`, also with another copy of this package. Never throws. */
export function isToolDefinition(value: unknown): value is AnyToolDefinition {
  if (typeof value !== 'object' || value === null) return false;
  const { name, description, parameters, effect, timeoutMs, approval, execute } = value as Partial<
    Record<keyof AnyToolDefinition, unknown>
  >;
  const isComplete = typeof timeoutMs === 'number' && approval !== undefined && typeof parameters === 'object' && parameters !== null;
  const isNamed = typeof name === 'string' && TOOL_LIMITS.namePattern.test(name) && typeof description === 'string';
  return isNamed && isComplete && Effect.safeParse(effect).success && typeof execute === 'function';
}

/** The schema of a tool in a config or a plugin. */
export const Tool = z.custom<AnyToolDefinition>(isToolDefinition, 'a tool made with defineTool({ … })');

/** JSON Schema of a tool's arguments, as the model sees it. */
export function parametersSchema(tool: Pick<ToolDefinition, 'parameters' | 'schema'>): Record<string, JsonValue> {
  if (tool.schema) return { ...tool.schema };
  const { $schema: _, ...schema } = z.toJSONSchema(tool.parameters, { io: 'input' });
  // zod's schema type is wider than JSON, but toJSONSchema returns plain JSON
  return schema as Record<string, JsonValue>;
}

/** Output of a tool call: return a short text, collect a long one piece by piece. */
export interface ToolOutput {
  /** Longest text that the model sees whole, in bytes of UTF-8. A longer one is cut, with a footer. */
  readonly bytesMax: number;
  /** Longest text that the model sees whole, in lines. */
  readonly linesMax: number;
  /**
   * Starts a collector for a text of any length. Memory use is constant. `keep` is the part of a long text that the model sees, unless
   * `output.keep` of the policy names one. @default the end, or both ends when the end looks like an error or a result
   */
  collect(options?: { readonly keep?: 'head' | 'tail' | 'head-tail' }): OutputCollector;
}

/**
 * Collects a text piece by piece. A text above the limits is stored whole as an artifact, which the model reads in pages.
 *
 * Contract: pieces keep the order of `write`. `write` never throws or rejects; reuse the buffer only after its promise resolves. Without
 * waiting nothing is lost, but memory grows. Call `finish` once, at the end; it never rejects.
 */
export interface OutputCollector {
  /** Bytes written so far. */
  readonly bytes: number;
  /** Adds a piece. */
  write(piece: Uint8Array): Promise<void>;
  /** The last line so far that is not blank, for progress displays. */
  lastLine(): string;
  /** Returns the text for the tool's return value or error message. `title` is put first and counts towards the limits. */
  finish(title?: string): Promise<string>;
}
