import { z } from 'zod';
import { DECISION_LIMITS, RUN_LIMITS } from '../contracts/constants/limits.js';
import { CompactionPolicy, CompletionPolicy, LoopPolicy, OutputPolicy, RunPolicy } from '../contracts/schemas/policy.js';

/** The fields of a schema, each optional and without its default. */
type Given<Shape extends z.ZodRawShape> = {
  [Field in keyof Shape]: z.ZodOptional<Shape[Field] extends z.ZodDefault<infer Inner> ? Inner : Shape[Field]>;
};

/**
 * Policy options of an agent. An absent option has the value of the preset, else the default of `RunPolicy`. The fields have no default
 * here, because it would override the preset.
 */
export const PolicyOptions = z.strictObject({
  /** Raises the turn limit by `step` while the run makes progress, up to `hardCap`. @default off */
  autoExtend: RunPolicy.shape.autoExtend,
  /** At the turn limit: `result` completes the run with reason `max_turns`, `error` fails it with `Run.MaxTurns`. @default result */
  onMaxTurns: RunPolicy.shape.onMaxTurns.unwrap().optional(),
  /** Turns left when the request carries a warning, the current one included. 0 turns the warning off. @default 3 */
  finaliseAtRemainingTurns: RunPolicy.shape.finaliseAtRemainingTurns.unwrap().optional(),
  /** Replaces the text of the warning. @default a built-in text */
  finaliseMessage: z.string().min(1).optional(),
  /** Loop guard: detects repeated calls with the same results. @default warn at turn 3, block at 4, stop at 5 */
  loop: given(LoopPolicy).optional(),
  /** Checks of an answer before it ends the run. @default none */
  completion: given(CompletionPolicy.omit({ custom: true })).optional(),
  /** Corrects answers without calls that are tool markup, repeated text, or an announcement of work that was not done. @default true */
  quality: RunPolicy.shape.quality.unwrap().optional(),
  /** A pending approval expires after this time, in milliseconds, and is denied. @default 3 days */
  approvalExpireMs: z.number().int().min(DECISION_LIMITS.approvalExpireMsMin).max(DECISION_LIMITS.approvalExpireMsMax).optional(),
  /** A pending question expires after this time, in milliseconds, and its call fails. @default 3 days */
  askExpireMs: z.number().int().min(DECISION_LIMITS.approvalExpireMsMin).max(DECISION_LIMITS.approvalExpireMsMax).optional(),
  /** Answers a repeated call of a `pure` tool from the transcript. @default true */
  memo: RunPolicy.shape.memo.unwrap().optional(),
  /** Limits of the tool output that the model sees. @default 50 KiB, 2,000 lines */
  output: given(OutputPolicy).optional(),
  /** When and how the transcript is compacted. @default `tiered`, from 60 % of the window */
  compaction: given(CompactionPolicy).optional(),
  /** How many queued messages one turn delivers. Messages with mode `preempt` or `interrupt` do not wait for it. @default all */
  drain: RunPolicy.shape.drain.unwrap().optional(),
  /** Tool choice of the first request. `required` has no effect on a run without tools. @default auto */
  firstToolChoice: RunPolicy.shape.firstToolChoice.unwrap().optional(),
  /** Cuts an answer that thinks longer than this, in tokens, without text or call. @default no limit */
  thinkingTokensMax: RunPolicy.shape.thinkingTokensMax,
  /** How streams show thinking: in a stream of its own, in the text between tags, or not at all. @default apart */
  thinkingOutput: RunPolicy.shape.thinkingOutput.unwrap().optional(),
  /** Turns thinking off for the rest of the run after an answer without text or call. @default false */
  thinkingOffWhenEmpty: RunPolicy.shape.thinkingOffWhenEmpty.unwrap().optional(),
  /** `ask`: while the run is on a fallback, calls of tools that are not `read` wait for approval. @default off */
  failoverGate: RunPolicy.shape.failoverGate.unwrap().optional(),
  /** After a refused key, the next key is used, then the next model. False: only the next key. @default true */
  fallbackOnAuth: RunPolicy.shape.fallbackOnAuth.unwrap().optional(),
  /** How many `read` calls of one answer run in parallel. @default 4 */
  readToolsParallelMax: RunPolicy.shape.readToolsParallelMax.unwrap().optional(),
  /** Runs `read` tools with a time limit of at most 10 s as local activities: faster, with less to see in the Web UI. @default false */
  localReadTools: RunPolicy.shape.localReadTools.unwrap().optional(),
});
export type PolicyOptions = z.infer<typeof PolicyOptions>;

/** Limits of an agent's runs whose input has none, and the action at a limit. */
export const BudgetOptions = z.strictObject({
  /** Token limit over all model calls, input and output. @default none */
  maxTokens: z.number().int().positive().optional(),
  /** Cost limit in USD over all model calls. It needs a known price, see `allowUnknownPrice`. @default none */
  maxCostUsd: z.number().positive().optional(),
  /** Working time in milliseconds. Pauses, holds and waits for approval do not count. @default none */
  deadlineMs: z.number().int().min(RUN_LIMITS.deadlineMsMin).max(RUN_LIMITS.deadlineMsMax).optional(),
  /** At a limit of turns, tokens, cost or time: `finish` writes the final answer, `ask` waits for approval. @default finish */
  onBudget: RunPolicy.shape.onBudget.unwrap().optional(),
  /** Starts a run although the price is unknown. `maxCostUsd` is not enforced then, and a notice reports it. @default false */
  allowUnknownPrice: z.boolean().optional(),
});
export type BudgetOptions = z.infer<typeof BudgetOptions>;

function given<Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>): z.ZodObject<Given<Shape>, z.core.$strict> {
  const fields = Object.entries(schema.shape).map(([name, field]) => [
    name,
    z.optional(field instanceof z.ZodDefault ? field.unwrap() : field),
  ]);
  // the type describes the result of this loop field by field
  return z.strictObject(Object.fromEntries(fields) as Given<Shape>);
}
