import { z } from 'zod';
import { JsonValue, type Message } from '../../contracts/schemas/message.js';
import { didYouMean } from '../../contracts/text/did-you-mean.js';
import type { ModelRequest } from '../contract/provider.js';

/** Grows only when a child that reads the old lines would do wrong with the new ones. */
export const EXECUTOR_PROTOCOL_VERSION = 1;

/** The result of one call, under the name that the child gave the call; for one without a name, its place in the batch: `0`, `1` … */
export interface CallResultLine {
  readonly callId: string;
  readonly isError: boolean;
  readonly text: string;
}

/**
 * A line to the child, as JSON. `start` is the first one. Calls are answered by `tool_results`, before which `message` and `finish` may
 * tell what came in between; a final answer may be followed by one `message` or `finish`.
 */
export type ParentLine =
  | {
      readonly type: 'start';
      readonly v: typeof EXECUTOR_PROTOCOL_VERSION;
      readonly runId: string;
      readonly prompt: string;
      /** What the user asked for; `messages` has the same, and more when the child begins from a transcript. */
      readonly task: string;
      readonly messages: readonly Message[];
      readonly tools: ModelRequest['tools'];
      /** Only the final answer is wanted. */
      readonly finish?: string;
    }
  | { readonly type: 'tool_results'; readonly results: readonly CallResultLine[] }
  | { readonly type: 'message'; readonly text: string }
  | { readonly type: 'finish'; readonly text: string }
  | { readonly type: 'cancel' };

/** A call that the child wants made. */
export const ChildCall = z.object({
  id: z.string().min(1).optional(),
  name: z.string().min(1),
  args: z.record(z.string(), JsonValue).default({}),
});
export type ChildCall = z.infer<typeof ChildCall>;

const Tokens = z.number().int().nonnegative();

const CHILD_LINES = {
  text: z.object({ type: z.literal('text'), text: z.string() }),
  thinking: z.object({ type: z.literal('thinking'), text: z.string() }),
  progress: z.object({ type: z.literal('progress'), text: z.string().optional() }),
  tool_calls: z.object({ type: z.literal('tool_calls'), calls: z.array(ChildCall).min(1) }),
  usage: z.object({
    type: z.literal('usage'),
    inputTokens: Tokens,
    outputTokens: Tokens,
    cacheReadTokens: Tokens.default(0),
    cacheWriteTokens: Tokens.default(0),
    reasoningTokens: Tokens.default(0),
  }),
  final: z.object({ type: z.literal('final'), text: z.string().optional() }),
  error: z.object({ type: z.literal('error'), message: z.string() }),
} as const;

/** A line from the child. Unknown fields are left alone, so that newer children can talk to older runners. */
export type ChildLine = z.infer<(typeof CHILD_LINES)[keyof typeof CHILD_LINES]>;

/** What is no protocol: `log` was never meant as such; `breach` was, and has something wrong with it. */
export type OtherLine = { readonly type: 'log' } | { readonly type: 'breach'; readonly problem: string };

/** Reads what the child wrote on one line; frameworks print much, so that a line which is no JSON object with a `type` is a log. Never throws. */
export function readChildLine(text: string): ChildLine | OtherLine {
  // most of what frameworks print is told from JSON by its first character
  if (!text.trimStart().startsWith('{')) return { type: 'log' };
  try {
    const line: unknown = JSON.parse(text);
    const type = line !== null && typeof line === 'object' && 'type' in line ? line.type : undefined;
    return typeof type === 'string' ? readTyped(type, line) : { type: 'log' };
  } catch (error) {
    if (error instanceof RangeError) return { type: 'breach', problem: 'a line is nested too deeply' };
    if (!(error instanceof SyntaxError)) throw error;
    return /^\s*\{\s*"type"/u.test(text) ? { type: 'breach', problem: `a line is not JSON: ${error.message}` } : { type: 'log' };
  }
}

function readTyped(type: string, line: unknown): ChildLine | OtherLine {
  if (!isChildType(type)) {
    const hint = didYouMean(type, Object.keys(CHILD_LINES));
    return { type: 'breach', problem: `a line has the unknown type ${JSON.stringify(type.slice(0, 80))}${hint}` };
  }
  const parsed = CHILD_LINES[type].safeParse(line);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, 5).map(({ path, message }) => `${path.join('.')}: ${message}`);
  return { type: 'breach', problem: `a line of type ${type}: ${issues.join('; ')}` };
}

function isChildType(name: string): name is keyof typeof CHILD_LINES {
  return Object.hasOwn(CHILD_LINES, name);
}
