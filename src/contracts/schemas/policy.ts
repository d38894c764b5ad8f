import { z } from 'zod';
import { COMPACTION_LIMITS, DECISION_LIMITS, LOOP_LIMITS, RUN_LIMITS, TOOL_LIMITS } from '../constants/limits.js';
import { ThinkingOutput } from './model.js';

/** What to do about a model that repeats itself. `nudge-then-stop`: say so, then block that very call, then end with `loop_detected`. */
export const OnLoop = z.enum(['nudge-then-stop', 'error', 'nudge', 'off']);
export type OnLoop = z.infer<typeof OnLoop>;

/** The loop guard. Thresholds are turns with the same calls and the same results, the present one included. */
export const LoopPolicy = z.strictObject({
  onLoop: OnLoop.default('nudge-then-stop'),
  nudgeAt: z.number().int().min(2).default(LOOP_LIMITS.nudgeAt),
  blockAt: z.number().int().min(2).default(LOOP_LIMITS.blockAt),
  stopAt: z.number().int().min(2).default(LOOP_LIMITS.stopAt),
});
export type LoopPolicy = z.infer<typeof LoopPolicy>;

/** Which part of a long output is kept. `auto`: the end, or both ends when the end looks like an error or a result. */
export const KeptPart = z.enum(['head', 'tail', 'head-tail', 'auto']);
export type KeptPart = z.infer<typeof KeptPart>;

/** How much of a tool's output the model reads; the whole is kept as an artifact. */
export const OutputPolicy = z.strictObject({
  bytesMax: z.number().int().min(200).max(TOOL_LIMITS.outputBytesCeiling).default(TOOL_LIMITS.outputBytesMax),
  linesMax: z.number().int().min(1).default(TOOL_LIMITS.outputLinesMax),
  keep: KeptPart.default('auto'),
  /** Exact numbers of characters from both ends, in place of the shares above. */
  exact: z.strictObject({ above: z.number().int(), head: z.number().int(), tail: z.number().int() }).optional(),
});
export type OutputPolicy = z.infer<typeof OutputPolicy>;

/** A strategy of compaction. `summary` asks a model; `custom` is the config's own `compactor`. */
export const CompactionStrategy = z.enum(['trim', 'tiered', 'summary', 'custom']);
export type CompactionStrategy = z.infer<typeof CompactionStrategy>;

/** When and how the transcript is made shorter. */
export const CompactionPolicy = z.strictObject({
  /** Tried in order until the transcript fits; empty: never compact by ourselves. */
  strategies: z.array(CompactionStrategy).default(['tiered']),
  softFraction: z.number().min(0.05).max(0.95).default(COMPACTION_LIMITS.softFraction),
  keepRecentTokens: z.number().int().min(0).default(COMPACTION_LIMITS.keepRecentTokens),
  /** The model that writes summaries; absent: the run's own. */
  summaryModel: z.string().optional(),
});
export type CompactionPolicy = z.infer<typeof CompactionPolicy>;

/** What may not be missing when a run ends: calls of these tools (for `run_command`: of a command that begins with `command`). */
export const RequiredPhase = z.strictObject({
  name: z.string().min(1),
  tools: z.array(z.string().min(1)).min(1),
  command: z.string().optional(),
});
export type RequiredPhase = z.infer<typeof RequiredPhase>;

/** The built-in looks at an answer that would end the run. */
export const CompletionCheck = z.enum(['plan-finished', 'edits-verified', 'phases-done']);
export type CompletionCheck = z.infer<typeof CompletionCheck>;

/** The completion gate: what is looked at before an answer without calls ends the run. */
export const CompletionPolicy = z.strictObject({
  checks: z.array(CompletionCheck).default([]),
  phases: z.array(RequiredPhase).default([]),
  /** The tool whose last call holds the plan. */
  planTool: z.string().default('update_plan'),
  attemptsMax: z.number().int().min(0).max(10).default(RUN_LIMITS.gateAttemptsMax),
  /** The agent has a `completionGate` of its own: activity `acceptAnswer` is asked, as it is for a run with an output schema. */
  custom: z.boolean().default(false),
});
export type CompletionPolicy = z.infer<typeof CompletionPolicy>;

/** What a gate says of a tool call. */
export const GateDecision = z.enum(['allow', 'block', 'ask']);
export type GateDecision = z.infer<typeof GateDecision>;

/** Profiles of the tool gate. `ask-before-writing`: every tool that is not `read` asks a person. */
export const GateProfile = z.enum(['all', 'read-only', 'no-network', 'ask-before-writing']);
export type GateProfile = z.infer<typeof GateProfile>;

/**
 * One rule of the tool gate; the first that matches decides, else the profile does. `command` matches the first words of a simple
 * command, never a compound one; `paths` are globs that the call's `path` must match.
 */
export const GateRule = z.strictObject({
  tool: z.string().min(1),
  command: z.string().min(1).optional(),
  paths: z.array(z.string().min(1)).min(1).optional(),
  decision: GateDecision,
  reason: z.string().max(500).optional(),
});
export type GateRule = z.infer<typeof GateRule>;

/** The tool gate of a run, as data. */
export const GatePolicy = z.strictObject({
  profile: GateProfile.default('all'),
  rules: z.array(GateRule).default([]),
});
export type GatePolicy = z.infer<typeof GatePolicy>;

/** Which of the config's hooks there are that need an activity of their own. Those around calls run inside the calls' activities. */
const HookPolicy = z.strictObject({
  beforeRun: z.boolean().default(false),
  afterRun: z.boolean().default(false),
  error: z.boolean().default(false),
  /** A hook around tools may mean names that there are no tools of: `checkTool` and `callTool` are asked about such calls too. */
  unknownTools: z.boolean().default(false),
});

/**
 * Every option of the run's judgement, complete: resolved once by `prepareRun` from preset, config, agent and input, so that editing
 * the config never changes a run in flight.
 */
export const RunPolicy = z.strictObject({
  /** Raises the turn cap by `step` while the run makes progress, up to `hardCap`. */
  autoExtend: z.strictObject({ step: z.number().int().min(1), hardCap: z.number().int().min(1) }).optional(),
  onMaxTurns: z.enum(['result', 'error']).default('result'),
  /** 0 turns the warning off. */
  finaliseAtRemainingTurns: z.number().int().min(0).default(RUN_LIMITS.finaliseAtRemainingTurns),
  finaliseMessage: z.string().optional(),
  loop: LoopPolicy.prefault({}),
  completion: CompletionPolicy.prefault({}),
  /** Corrects text-only answers that are empty, leaked tool markup, noise or a stall. */
  quality: z.boolean().default(true),
  gate: GatePolicy.prefault({}),
  /** The agent's gate is a function: activity `checkTool` asks it about each call. */
  gateFunction: z.boolean().default(false),
  hooks: HookPolicy.prefault({}),
  approvalExpireMs: z.number().int().default(DECISION_LIMITS.approvalExpireMsDefault),
  memo: z.boolean().default(true),
  output: OutputPolicy.prefault({}),
  onBudget: z.enum(['finish', 'ask']).default('finish'),
  compaction: CompactionPolicy.prefault({}),
  /** How many waiting messages one turn reads. */
  drain: z.enum(['all', 'one']).default('all'),
  /** What stands in a message behind a `/model` or `/think` that is refused is followed and read; false: it goes with it. */
  keepRestOfRefused: z.boolean().default(true),
  /** Tool choice of the first request. */
  firstToolChoice: z.enum(['auto', 'required']).default('auto'),
  /** An answer that thinks longer than this without saying or calling anything is cut. */
  thinkingTokensMax: z.number().int().min(1).optional(),
  /** What watchers see of thinking. */
  thinkingOutput: ThinkingOutput.default('apart'),
  /** An answer without text or call turns thinking off for the rest of the run. */
  thinkingOffWhenEmpty: z.boolean().default(false),
  /** After a change of model because of a failure: calls that may change the world ask a person. */
  failoverGate: z.enum(['off', 'ask']).default('off'),
  /**
   * A model of which only other runs said that it fails is asked before the run fails; a fallback with a smaller window gets a transcript
   * that fits it; one that is too dear for the rest of the cost cap gives no final answer. False: nothing of this.
   */
  weighsFallbacks: z.boolean().default(true),
  /** A refused key leads to the next one, then to the next model. */
  fallbackOnAuth: z.boolean().default(true),
  /** `read` calls of one answer that run at the same time. */
  readToolsParallelMax: z.number().int().min(1).max(16).default(RUN_LIMITS.readToolsParallelMax),
});
export type RunPolicy = z.infer<typeof RunPolicy>;

/** The policy of a run whose agent says nothing. For workers and tools: a workflow is given its policy. */
export const DEFAULT_POLICY: RunPolicy = RunPolicy.parse({});
