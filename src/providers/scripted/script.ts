import { z } from 'zod';
import { JsonValue } from '../../contracts/schemas/message.js';
import { StopReason } from '../../contracts/schemas/model.js';
import { ScriptFault } from './script-fault.js';

const delayMs = z
  .int()
  .min(0)
  .max(24 * 60 * 60 * 1_000)
  .default(0);

/** A tool call of a step. `argsText` is sent in place of `args` as it is, so that it may be broken JSON. */
export const ScriptToolCall = z.strictObject({
  /** Also one that no tool has, or none at all. */
  name: z.string(),
  args: z.record(z.string(), JsonValue).default({}),
  argsText: z.string().optional(),
  /** The provider's id of the call. @default one that is unique in the conversation */
  id: z.string().min(1).optional(),
});
export type ScriptToolCall = z.infer<typeof ScriptToolCall>;

/** Tokens a step reports; what is left out is estimated from the request and the answer. */
const ScriptUsage = z.strictObject({
  inputTokens: z.number().optional(),
  outputTokens: z.number().optional(),
  cacheReadTokens: z.number().optional(),
  cacheWriteTokens: z.number().optional(),
  reasoningTokens: z.number().optional(),
});

/** What must be in the request that a step answers; a request without it is refused like any other bad one. */
const ScriptExpectation = z.strictObject({
  /** A part of the last user message. */
  lastUser: z.string().optional(),
  /** A part of the last tool result. */
  lastToolResult: z.string().optional(),
  /** Names of tools that are offered. */
  tools: z.array(z.string()).optional(),
});
export type ScriptExpectation = z.infer<typeof ScriptExpectation>;

/**
 * One answer. In `text`, `thinking` and every text of `args`, `{{lastUser}}`, `{{lastToolResult}}` and `{{turn}}` stand for what the
 * request says. A step without text, thinking and calls is an empty answer.
 */
export const ScriptStep = z.strictObject({
  text: z.string().optional(),
  thinking: z.string().optional(),
  toolCalls: z.array(ScriptToolCall).default([]),
  /** `none`: the answer reports no usage at all. @default an estimate */
  usage: z.union([ScriptUsage, z.literal('none')]).default({}),
  /** @default `tool_calls` with calls, else `end` */
  stop: StopReason.optional(),
  /** Time before the first byte. @default 0 */
  delayMs,
  /** Time before each piece of the stream. @default 0 */
  chunkDelayMs: delayMs,
  /** Characters a piece of the stream has. @default a word a piece */
  chunkChars: z.int().min(1).optional(),
  fault: ScriptFault.optional(),
  /** Several faults, in order, after `fault`. */
  faults: z.array(ScriptFault).default([]),
  expect: ScriptExpectation.default({}),
});
export type ScriptStep = z.infer<typeof ScriptStep>;

/** A scripted model: what it answers to the first, second, … request of a conversation. */
export const Script = z
  .strictObject({
    /** For the reader of the file. */
    description: z.string().optional(),
    steps: z.array(ScriptStep).min(1),
    /** Answers a request that forbids tool calls: the reserved final call of a run. @default a sentence saying so */
    final: ScriptStep.optional(),
    /** Answers every request after the last step. @default such a request is refused */
    whenEnded: ScriptStep.optional(),
    /** Starts again with the first step after the last one. */
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
