import { z } from 'zod';
import { TOOL_LIMITS } from '../contracts/constants/limits.js';
import type { ContentPart, JsonValue } from '../contracts/schemas/message.js';
import { Effect } from '../contracts/schemas/tool.js';

/** What a tool is given besides its arguments. */
export interface ToolContext {
  readonly runId: string;
  readonly turn: number;
  readonly callId: string;
  /** The same for every start of this call: give it to services that deduplicate. */
  readonly idempotencyKey: string;
  /** 1 for the first start as Temporal counts it. */
  readonly attempt: number;
  /** Absolute path of the run's workspace, when it has one. */
  readonly workspace?: string;
  /** Aborted on a user's cancel, a timeout and a worker's shutdown; a tool that ignores it is abandoned as unknown. */
  readonly signal: AbortSignal;
  /** How much the model reads of this call's text, and a way to give more than that. */
  readonly output: ToolOutput;
  /** Shows a JSON value (≤ 1 KiB) under Pending Activities in the Web UI. */
  heartbeat(details: JsonValue): void;
  readonly log: { info(message: string): void; warn(message: string): void };
}

/** What a tool may return: text, any JSON, or content parts. */
export type ToolReturn = string | JsonValue | readonly ContentPart[];

/** What `reconcile` found out about a call whose worker died. */
export type Reconciled =
  | { readonly kind: 'done'; readonly result: ToolReturn }
  | { readonly kind: 'not_started' }
  | { readonly kind: 'unknown' };

/**
 * A tool the model may call.
 *
 * Contract: `execute` may throw (the model reads the message as a failed result); it runs at most once per call when `effect`
 * is `once`, and may run again with the same `idempotencyKey` when it is `idempotent` or `read`; `read` tools of one answer run
 * in parallel. `reconcile` only looks, never changes anything.
 */
export interface ToolDefinition<Args = unknown> {
  readonly name: string;
  readonly description: string;
  readonly parameters: z.ZodType<Args>;
  readonly effect: Effect;
  readonly timeoutMs: number;
  readonly pure: boolean;
  /** False: it reaches no other machine, and the gate's profile `no-network` lets it run. Absent: nobody knows, so it may. */
  readonly network?: boolean;
  readonly approval: 'never' | 'always' | ((args: Args, context: { readonly runId: string }) => boolean);
  readonly reconcile?: (args: Args, context: ToolContext) => Promise<Reconciled>;
  execute(args: Args, context: ToolContext): Promise<ToolReturn> | ToolReturn;
}

/** The options of `defineTool`. @default effect `once`, timeoutMs 45 s, pure false, approval `never` */
export type ToolOptions<Args> = Pick<ToolDefinition<Args>, 'name' | 'description' | 'parameters' | 'execute'> &
  Partial<Pick<ToolDefinition<Args>, 'effect' | 'timeoutMs' | 'pure' | 'network' | 'approval' | 'reconcile'>>;

/** Any tool, whatever its arguments. */
// biome-ignore format: one idea
export type AnyToolDefinition = Omit<ToolDefinition, 'execute' | 'approval' | 'reconcile'> & {
  readonly approval: 'never' | 'always' | ((args: never, context: { readonly runId: string }) => boolean);
  readonly reconcile?: (args: never, context: ToolContext) => Promise<Reconciled>;
  execute(args: never, context: ToolContext): Promise<ToolReturn> | ToolReturn;
};

/**
 * Completes a tool's options. A tool whose effect is not said is `once`: started at most once, whatever happens.
 * Throws a TypeError naming the field for a bad name, timeout or effect.
 */
export function defineTool<Args>(options: ToolOptions<Args>): ToolDefinition<Args> {
  const { effect = 'once', timeoutMs = TOOL_LIMITS.timeoutMsDefault, pure = false, approval = 'never' } = options;
  if (!TOOL_LIMITS.namePattern.test(options.name)) {
    throw new TypeError(`TOOL_NAME ${JSON.stringify(options.name.slice(0, 80))}: use a letter or _, then up to 63 of a-z A-Z 0-9 _ -`);
  }
  if (!Effect.safeParse(effect).success) throw new TypeError(`tool ${options.name}: effect is "read", "idempotent" or "once"`);
  if (!Number.isInteger(timeoutMs) || timeoutMs < TOOL_LIMITS.timeoutMsMin || timeoutMs > TOOL_LIMITS.timeoutMsMax) {
    throw new TypeError(`tool ${options.name}: timeoutMs is an integer of ${TOOL_LIMITS.timeoutMsMin} to ${TOOL_LIMITS.timeoutMsMax}`);
  }
  if (pure && effect !== 'read') throw new TypeError(`tool ${options.name}: only a read tool can be pure`);
  return { ...options, effect, timeoutMs, pure, approval };
}

/** True for what `defineTool` returns, also when another copy of this package made it. Never throws. */
export function isToolDefinition(value: unknown): value is AnyToolDefinition {
  if (typeof value !== 'object' || value === null) return false;
  const { name, description, parameters, effect, timeoutMs, approval, execute } = value as Partial<
    Record<keyof AnyToolDefinition, unknown>
  >;
  const isComplete = typeof timeoutMs === 'number' && approval !== undefined && typeof parameters === 'object' && parameters !== null;
  const isNamed = typeof name === 'string' && TOOL_LIMITS.namePattern.test(name) && typeof description === 'string';
  return isNamed && isComplete && Effect.safeParse(effect).success && typeof execute === 'function';
}

/** The JSON Schema of a tool's arguments, as the model sees it. */
export function parametersSchema(tool: Pick<ToolDefinition, 'parameters'>): Record<string, JsonValue> {
  const { $schema: _, ...schema } = z.toJSONSchema(tool.parameters, { io: 'input' });
  // zod's own schema type is wider than JSON; what toJSONSchema returns is plain JSON
  return schema as Record<string, JsonValue>;
}

/** The text that a tool gives: a short one is simply returned, an endless one is collected piece by piece. */
export interface ToolOutput {
  /** A returned text of at most this many bytes of UTF-8 and lines is read whole by the model; of a longer one a part, with a footer. */
  readonly bytesMax: number;
  readonly linesMax: number;
  /**
   * Begins a text of any length, in memory that does not grow with it. `keep` says which part of a long one the model reads, unless
   * the run's own policy names one. @default the end, or both ends when the end looks like an error or a result
   */
  collect(options?: { readonly keep?: 'head' | 'tail' | 'head-tail' }): OutputCollector;
}

/**
 * A text that is collected while it comes. What is longer than the model reads is kept whole as an artifact, which the model can page.
 *
 * Contract: pieces are taken in the order of `write`; `write` never throws or rejects, and the bytes are the caller's again when its
 * promise resolves (a caller that does not wait loses nothing, but memory grows); `finish` ends it, never rejects, and is called once.
 */
export interface OutputCollector {
  /** Bytes taken so far. */
  readonly bytes: number;
  write(piece: Uint8Array): Promise<void>;
  /** The last line with anything on it, as it stands now: what a watcher is shown. */
  lastLine(): string;
  /** What the tool returns, or puts into the message of what it throws. `title` goes first, within the same bounds. */
  finish(title?: string): Promise<string>;
}
