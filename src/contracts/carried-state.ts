import { z } from 'zod';
import { JsonValue, Message, ToolCallPart } from './message.js';
import { Usage } from './model.js';
import { PreparedRun } from './prepared-run.js';

const QueuedMessage = z.strictObject({ id: z.string(), text: z.string() });

const ToolResultSlot = z.strictObject({ message: Message, hash: z.string() });

/** A batch of tool calls that a continue-as-new found half done: the results so far, by position. */
export const TurnInProgress = z.strictObject({
  calls: z.array(ToolCallPart),
  results: z.array(ToolResultSlot.nullable()),
});
export type TurnInProgress = z.infer<typeof TurnInProgress>;

/**
 * Everything a run takes through continue-as-new. A newer build must read what an older one wrote: fields are
 * only ever added, with a default. It may be large, and then travels through external storage.
 */
export const CarriedState = z.strictObject({
  v: z.literal(1),
  prepared: PreparedRun,
  transcript: z.array(z.strictObject({ message: Message, hash: z.string() })),
  chain: z.strictObject({ length: z.number(), digest: z.string() }),
  caps: z.strictObject({
    maxTurns: z.number(),
    maxTokens: z.number().optional(),
    maxCostUsd: z.number().optional(),
    deadlineMs: z.number().optional(),
  }),
  counters: z.strictObject({
    turn: z.number(),
    toolCalls: z.number(),
    truncatedAnswers: z.number(),
    pausedAnswers: z.number(),
    emptyAnswers: z.number(),
    steers: z.number(),
  }),
  warned: z.boolean(),
  paused: z.boolean(),
  workedMs: z.number(),
  usage: z.strictObject({ total: Usage, last: Usage.optional(), costUsd: z.number().optional() }),
  models: z.array(z.string()),
  inbox: z.array(QueuedMessage),
  seenIds: z.array(z.string()),
  events: z.strictObject({ seq: z.number(), kept: z.array(z.record(z.string(), JsonValue)) }),
  turnInProgress: TurnInProgress.optional(),
});
export type CarriedState = z.infer<typeof CarriedState>;
