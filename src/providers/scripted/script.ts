import { z } from 'zod';
import { JsonValue } from '../../contracts/schemas/message.js';
import { StopReason } from '../../contracts/schemas/model.js';
import { ScriptFault } from './script-fault.js';

const delayMs = z
  .int()
  .min(0)
  .max(24 * 60 * 60 * 1_000)
  .default(0);

/** A tool call of a step. */
export const ScriptToolCall = z.strictObject({
  /** Name of the tool; it may be unknown or empty. */
  name: z.string(),
  /** Arguments. */
  args: z.record(z.string(), JsonValue).default({}),
  /** Text that is sent unchanged in place of `args`, so it may be broken JSON. @default none */
  argsText: z.string().optional(),
  /** The provider's id of the call. @default a unique one */
  id: z.string().min(1).optional(),
});
export type ScriptToolCall = z.infer<typeof ScriptToolCall>;

/** Usage that a step reports. Absent fields are estimated from the request and the answer. */
const ScriptUsage = z.strictObject({
  inputTokens: z.number().optional(),
  outputTokens: z.number().optional(),
  cacheReadTokens: z.number().optional(),
  cacheWriteTokens: z.number().optional(),
  reasoningTokens: z.number().optional(),
});

/** Contents that the request of a step must have. Any other request is refused. */
const ScriptExpectation = z.strictObject({
  /** Text that the last user message contains. */
  lastUser: z.string().optional(),
  /** Text that the last tool result contains. */
  lastToolResult: z.string().optional(),
  /** Names of tools that the request offers. */
  tools: z.array(z.string()).optional(),
});
export type ScriptExpectation = z.infer<typeof ScriptExpectation>;

/**
 * One answer. In `text`, `thinking` and the texts of `args`, `{{lastUser}}`, `{{lastToolResult}}` and `{{turn}}` are replaced by values of
 * the request. A step without text, thinking and calls is an empty answer.
 */
export const ScriptStep = z.strictObject({
  /** Text of the answer. @default none */
  text: z.string().optional(),
  /** Thinking before the text. @default none */
  thinking: z.string().optional(),
  /** Tool calls. */
  toolCalls: z.array(ScriptToolCall).default([]),
  /** Usage that the answer reports; `none` reports no usage. @default an estimate */
  usage: z.union([ScriptUsage, z.literal('none')]).default({}),
  /** Stop reason. @default `tool_calls` with calls, else `end` */
  stop: StopReason.optional(),
  /** Delay before the first byte, in milliseconds. @default 0 */
  delayMs,
  /** Delay before each chunk of the stream, in milliseconds. @default 0 */
  chunkDelayMs: delayMs,
  /** Characters of a chunk. @default one word a chunk */
  chunkChars: z.int().min(1).optional(),
  /** Fault before the step is answered. @default none */
  fault: ScriptFault.optional(),
  /** Further faults, in order, after `fault`. */
  faults: z.array(ScriptFault).default([]),
  /** Texts and tools that the request must contain. A request without them is refused. */
  expect: ScriptExpectation.default({}),
});
export type ScriptStep = z.infer<typeof ScriptStep>;

/** A scripted model: its answers to the first, second, … request of a conversation. */
export const Script = z
  .strictObject({
    /** Description for readers of the file. */
    description: z.string().optional(),
    /** Answers, at least one. */
    steps: z.array(ScriptStep).min(1),
    /** Answer to a request that forbids tool calls, such as the reserved final call of a run. @default a fixed sentence */
    final: ScriptStep.optional(),
    /** Answer to every request after the last step. @default none: such a request is refused */
    whenEnded: ScriptStep.optional(),
    /** Continues with the first step after the last one. Not together with `whenEnded`. */
    loop: z.boolean().default(false),
  })
  .refine((script) => !(script.loop && script.whenEnded), {
    path: ['whenEnded'],
    message: 'a script that loops never ends: set either loop or whenEnded',
  });
export type Script = z.infer<typeof Script>;

/** A script as it is written, before defaults. */
export type ScriptInput = z.input<typeof Script>;

/** A step as it is written, before defaults. */
export type ScriptStepInput = z.input<typeof ScriptStep>;
