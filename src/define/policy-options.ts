import { z } from 'zod';
import { DECISION_LIMITS, RUN_LIMITS } from '../contracts/constants/limits.js';
import { CompactionPolicy, CompletionPolicy, LoopPolicy, OutputPolicy, RunPolicy } from '../contracts/schemas/policy.js';

/** A schema's fields as a person gives them: each may be left out, and none brings its default along. */
type Given<Shape extends z.ZodRawShape> = {
  [Field in keyof Shape]: z.ZodOptional<Shape[Field] extends z.ZodDefault<infer Inner> ? Inner : Shape[Field]>;
};

/**
 * The data options of an agent's judgement. What is left out comes from the preset, else from the defaults of `RunPolicy`; a default
 * that stood here already would hide the preset's.
 */
export const PolicyOptions = z.strictObject({
  /** Raises the turn cap by `step` while the run makes progress, up to `hardCap`. @default off */
  autoExtend: RunPolicy.shape.autoExtend,
  /** At the turn cap: a result with reason `max_turns`, or an error. @default result */
  onMaxTurns: RunPolicy.shape.onMaxTurns.unwrap().optional(),
  /** The warning comes with this many turns left; 0 turns it off. @default 3 */
  finaliseAtRemainingTurns: RunPolicy.shape.finaliseAtRemainingTurns.unwrap().optional(),
  /** Replaces the warning's text. */
  finaliseMessage: z.string().min(1).optional(),
  /** The loop guard. @default nudge at 3, block at 4, stop at 5 */
  loop: given(LoopPolicy).optional(),
  /** What must be true before an answer ends the run. @default nothing */
  completion: given(CompletionPolicy.omit({ custom: true })).optional(),
  /** Corrects text-only answers that are empty, leaked tool markup, noise or a stall. @default true */
  quality: RunPolicy.shape.quality.unwrap().optional(),
  /** An approval nobody gives in this time is a denial. @default 3 days */
  approvalExpireMs: z.number().int().min(DECISION_LIMITS.approvalExpireMsMin).max(DECISION_LIMITS.approvalExpireMsMax).optional(),
  /** Answers of `pure` tools are remembered. @default true */
  memo: RunPolicy.shape.memo.unwrap().optional(),
  /** How much of a tool's output the model reads. @default 50 KiB, 2,000 lines */
  output: given(OutputPolicy).optional(),
  /** @default tiered, from 60 % of the window */
  compaction: given(CompactionPolicy).optional(),
  /** How many waiting messages one turn reads. @default all */
  drain: RunPolicy.shape.drain.unwrap().optional(),
  /** Tool choice of the first request; `required` means auto for a run without tools. @default auto */
  firstToolChoice: RunPolicy.shape.firstToolChoice.unwrap().optional(),
  /** An answer that thinks longer than this without saying or calling anything is cut. @default no bound */
  thinkingTokensMax: RunPolicy.shape.thinkingTokensMax,
  /** What watchers see of thinking. @default apart */
  thinkingOutput: RunPolicy.shape.thinkingOutput.unwrap().optional(),
  /** An answer without text or call turns thinking off for the rest of the run. @default false */
  thinkingOffWhenEmpty: RunPolicy.shape.thinkingOffWhenEmpty.unwrap().optional(),
  /** After a change of model because of a failure: calls that may change the world ask a person. @default off */
  failoverGate: RunPolicy.shape.failoverGate.unwrap().optional(),
  /** A refused key leads to the next one, then to the next model. @default true */
  fallbackOnAuth: RunPolicy.shape.fallbackOnAuth.unwrap().optional(),
  /** `read` calls of one answer that run at the same time. @default 4 */
  readToolsParallelMax: RunPolicy.shape.readToolsParallelMax.unwrap().optional(),
});
export type PolicyOptions = z.infer<typeof PolicyOptions>;

/** The caps of an agent's runs where their input names none, and what happens when they are spent. */
export const BudgetOptions = z.strictObject({
  /** Input and output of all calls. */
  maxTokens: z.number().int().positive().optional(),
  /** Needs a known price, see `allowUnknownPrice`. */
  maxCostUsd: z.number().positive().optional(),
  /** Working time of a run. */
  deadlineMs: z.number().int().min(RUN_LIMITS.deadlineMsMin).max(RUN_LIMITS.deadlineMsMax).optional(),
  /** Give the final answer, or wait until a person extends or denies. @default finish */
  onBudget: RunPolicy.shape.onBudget.unwrap().optional(),
  /** Start although the model's price is unknown: `maxCostUsd` is then not kept, and the run says so. @default false */
  allowUnknownPrice: z.boolean().optional(),
});
export type BudgetOptions = z.infer<typeof BudgetOptions>;

function given<Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>): z.ZodObject<Given<Shape>, z.core.$strict> {
  const fields = Object.entries(schema.shape).map(([name, field]) => [
    name,
    z.optional(field instanceof z.ZodDefault ? field.unwrap() : field),
  ]);
  // the type says field by field what this loop does
  return z.strictObject(Object.fromEntries(fields) as Given<Shape>);
}
