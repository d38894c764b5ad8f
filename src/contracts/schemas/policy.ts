import { z } from 'zod';
import { COMPACTION_LIMITS, DECISION_LIMITS, LOOP_LIMITS, RUN_LIMITS, TOOL_LIMITS } from '../constants/limits.js';
import { ThinkingOutput } from './model.js';

/**
 * Reaction to a model that repeats itself: `nudge-then-stop` warns, then blocks the repeated calls, then ends the run with
 * `loop_detected`. `nudge` only warns. `error` fails the run with `Run.LoopDetected` at the first threshold. `off` does nothing.
 */
export const OnLoop = z.enum(['nudge-then-stop', 'error', 'nudge', 'off']);
export type OnLoop = z.infer<typeof OnLoop>;

/** The loop guard. The thresholds count turns in a row with the same calls and the same results, the current turn included. */
export const LoopPolicy = z.strictObject({
  /**
   * Reaction to a loop. `nudge-then-stop` warns, then blocks, then ends the run. `nudge` only warns. `error` fails the run with
   * `Run.LoopDetected` at the first threshold. `off` does nothing.
   */
  onLoop: OnLoop.default('nudge-then-stop'),
  /** A warning is added to the transcript. */
  nudgeAt: z.number().int().min(2).default(LOOP_LIMITS.nudgeAt),
  /** The repeated calls are blocked, with the reason as their result. */
  blockAt: z.number().int().min(2).default(LOOP_LIMITS.blockAt),
  /** The run ends with `loop_detected` and a final answer. */
  stopAt: z.number().int().min(2).default(LOOP_LIMITS.stopAt),
});
export type LoopPolicy = z.infer<typeof LoopPolicy>;

/** The part of a long output that is kept. `auto`: the end, or both ends when the end looks like an error or a result. */
export const KeptPart = z.enum(['head', 'tail', 'head-tail', 'auto']);
export type KeptPart = z.infer<typeof KeptPart>;

/** Limits of the tool output that the model sees. The whole output is stored as an artifact. */
export const OutputPolicy = z.strictObject({
  /** Longest output, in bytes of UTF-8. */
  bytesMax: z.number().int().min(200).max(TOOL_LIMITS.outputBytesCeiling).default(TOOL_LIMITS.outputBytesMax),
  /** Longest output, in lines. */
  linesMax: z.number().int().min(1).default(TOOL_LIMITS.outputLinesMax),
  /** The part of a longer output that is kept. `auto`: the end, or both ends when the end looks like an error or a result. */
  keep: KeptPart.default('auto'),
  /** Cuts by characters instead: an output longer than `above` keeps its first `head` and its last `tail` characters. */
  exact: z.strictObject({ above: z.number().int(), head: z.number().int(), tail: z.number().int() }).optional(),
});
export type OutputPolicy = z.infer<typeof OutputPolicy>;

/**
 * A compaction strategy. `tiered` shortens old results, then thinking and long answers, then drops whole groups. `trim` drops the oldest
 * groups. `summary` asks a model. `custom` calls the config's `compactor`.
 */
export const CompactionStrategy = z.enum(['trim', 'tiered', 'summary', 'custom']);
export type CompactionStrategy = z.infer<typeof CompactionStrategy>;

/** When and how the transcript is compacted. */
export const CompactionPolicy = z.strictObject({
  /** Strategies, tried in order until the transcript fits. An empty list turns compaction off. */
  strategies: z.array(CompactionStrategy).default(['tiered']),
  /** Compaction starts above this fraction of the window, or at the window less 16,384 tokens if that is lower. */
  softFraction: z.number().min(0.05).max(0.95).default(COMPACTION_LIMITS.softFraction),
  /** The newest messages that stay unchanged, in estimated tokens. At least 4 messages stay. */
  keepRecentTokens: z.number().int().min(0).default(COMPACTION_LIMITS.keepRecentTokens),
  /** Model that writes summaries, as `provider/model`. @default the run's models */
  summaryModel: z.string().optional(),
});
export type CompactionPolicy = z.infer<typeof CompactionPolicy>;

/** A phase that a run must complete before it ends: a successful call of one of `tools`. */
export const RequiredPhase = z.strictObject({
  /** Name of the phase, as the model sees it. */
  name: z.string().min(1),
  /** Names of the tools. A successful call of one of them completes the phase. */
  tools: z.array(z.string().min(1)).min(1),
  /** For `run_command`: the command must begin with this text. */
  command: z.string().optional(),
});
export type RequiredPhase = z.infer<typeof RequiredPhase>;

/**
 * A built-in check of an answer that would end the run. `plan-finished`: the last plan has no open steps. `edits-verified`: after the last
 * edit something was read, searched or run. `phases-done`: each required phase has a successful call.
 */
export const CompletionCheck = z.enum(['plan-finished', 'edits-verified', 'phases-done']);
export type CompletionCheck = z.infer<typeof CompletionCheck>;

/** The completion gate: checks of an answer without calls, before it ends the run. */
export const CompletionPolicy = z.strictObject({
  /** Built-in checks. */
  checks: z.array(CompletionCheck).default([]),
  /** Phases that the check `phases-done` requires. */
  phases: z.array(RequiredPhase).default([]),
  /** Tool whose last call contains the plan. */
  planTool: z.string().default('update_plan'),
  /** How many times in a row the model is corrected. Then the answer is accepted. */
  attemptsMax: z.number().int().min(0).max(10).default(RUN_LIMITS.gateAttemptsMax),
  /** The agent has a `completionGate` function: activity `acceptAnswer` runs, as it does for a run with an output schema. */
  custom: z.boolean().default(false),
});
export type CompletionPolicy = z.infer<typeof CompletionPolicy>;

/** Decision of a gate on a tool call: run it, block it, or wait for approval. */
export const GateDecision = z.enum(['allow', 'block', 'ask']);
export type GateDecision = z.infer<typeof GateDecision>;

/**
 * A profile of the tool gate. `all` allows every tool. `read-only` blocks tools that are not `read`. `no-network` blocks tools without
 * `network: false`. `ask-before-writing` asks for approval of tools that are not `read`.
 */
export const GateProfile = z.enum(['all', 'read-only', 'no-network', 'ask-before-writing']);
export type GateProfile = z.infer<typeof GateProfile>;

/** One rule of the tool gate. The first rule that matches decides, else the profile does. */
export const GateRule = z.strictObject({
  /** Name of the tool; `*` matches any characters. */
  tool: z.string().min(1),
  /** First words of a command. With `allow` it matches simple commands only; otherwise also a compound command that may contain it. */
  command: z.string().min(1).optional(),
  /** Globs that the `path` of the call must match, as it is written. */
  paths: z.array(z.string().min(1)).min(1).optional(),
  /** `allow` runs the call, `block` returns the reason as a failed result, `ask` waits for approval. */
  decision: GateDecision,
  /** Reason that the model and operators see. */
  reason: z.string().max(500).optional(),
});
export type GateRule = z.infer<typeof GateRule>;

/** The tool gate of a run, as data. */
export const GatePolicy = z.strictObject({
  /** Decides calls that no rule matches. */
  profile: GateProfile.default('all'),
  /** Rules, in order. The first match decides. */
  rules: z.array(GateRule).default([]),
});
export type GatePolicy = z.infer<typeof GatePolicy>;

/** The hooks of the config that need their own activity. Hooks around calls run inside the activities of the calls. */
const HookPolicy = z.strictObject({
  beforeRun: z.boolean().default(false),
  afterRun: z.boolean().default(false),
  error: z.boolean().default(false),
  /** A hook around tools may match names of tools that do not exist: `checkTool` and `callTool` also run for such calls. */
  unknownTools: z.boolean().default(false),
});

/**
 * The complete policy of a run. `prepareRun` resolves it once from preset, config, agent and input, so that a changed config does not
 * change a running agent.
 */
export const RunPolicy = z.strictObject({
  /** Raises the turn limit by `step` while the run makes progress, up to `hardCap`. */
  autoExtend: z.strictObject({ step: z.number().int().min(1), hardCap: z.number().int().min(1) }).optional(),
  /** At the turn limit: `result` completes the run with reason `max_turns`, `error` fails it with `Run.MaxTurns`. */
  onMaxTurns: z.enum(['result', 'error']).default('result'),
  /** The request with this many turns left carries a warning. 0 turns the warning off. */
  finaliseAtRemainingTurns: z.number().int().min(0).default(RUN_LIMITS.finaliseAtRemainingTurns),
  /** Replaces the text of the warning. */
  finaliseMessage: z.string().optional(),
  loop: LoopPolicy.prefault({}),
  completion: CompletionPolicy.prefault({}),
  /** Corrects answers without calls that are tool markup, repeated text, or an announcement of work that was not done. */
  quality: z.boolean().default(true),
  gate: GatePolicy.prefault({}),
  /** The agent's gate is a function: activity `checkTool` calls it before each tool call. */
  gateFunction: z.boolean().default(false),
  hooks: HookPolicy.prefault({}),
  /** A pending approval is denied after this time, in milliseconds. */
  approvalExpireMs: z.number().int().default(DECISION_LIMITS.approvalExpireMsDefault),
  /** A pending question expires after this time, in milliseconds, and its call fails. */
  askExpireMs: z.number().int().default(DECISION_LIMITS.approvalExpireMsDefault),
  /** Answers a repeated call of a `pure` tool from the transcript. */
  memo: z.boolean().default(true),
  output: OutputPolicy.prefault({}),
  /** At a limit: `finish` writes the final answer, `ask` waits for approval. */
  onBudget: z.enum(['finish', 'ask']).default('finish'),
  compaction: CompactionPolicy.prefault({}),
  /** How many queued messages one turn delivers. */
  drain: z.enum(['all', 'one']).default('all'),
  /** Delivers the rest of a message whose `/model` or `/think` was refused. False in runs of older versions, which drop it. */
  keepRestOfRefused: z.boolean().default(true),
  /** Applies the first few commands of a message; what follows is text. False in runs of older versions, which apply all. */
  limitsDirectives: z.boolean().default(true),
  /**
   * Version of the judgements that read text: leaked markup, repetition and announced work in answers, and volatile fields in results. A
   * run keeps the version that it was prepared with, so that it replays as it ran.
   */
  judgement: z.literal(1).default(1),
  /** Ends the run after three answers in a row without JSON arguments. False in runs of older versions. */
  limitsBadArguments: z.boolean().default(true),
  /** Updates the search attributes of turns and cost while the run works. False in runs of older versions: only when the status changes. */
  reportsTurns: z.boolean().default(true),
  /** Refuses messages above the bound of unread ones. False in runs of older versions, which queue all. */
  limitsInbox: z.boolean().default(true),
  /** Continues as new after 1,000 signals, also in the wait for a model. False in runs of older versions: 5,000, and not in that wait. */
  continuesAtFloods: z.boolean().default(true),
  /**
   * Tells only the sub-agents of this history that their parent continues as new: the server cancels no others. False in runs of older
   * versions, which tell all.
   */
  tellsOwnSubagents: z.boolean().default(true),
  /**
   * A stop or an interrupt that comes while a model call fails is handled instead of the failure. False in runs of older versions, which end
   * with the failure.
   */
  stopsOutrankFailures: z.boolean().default(true),
  /** Tool choice of the first request. */
  firstToolChoice: z.enum(['auto', 'required']).default('auto'),
  /** Cuts an answer that thinks longer than this, in tokens, without text or call. */
  thinkingTokensMax: z.number().int().min(1).optional(),
  /** How streams show thinking. */
  thinkingOutput: ThinkingOutput.default('apart'),
  /** Turns thinking off for the rest of the run after an answer without text or call. */
  thinkingOffWhenEmpty: z.boolean().default(false),
  /** `ask`: while the run is on a fallback, calls of tools that are not `read` wait for approval. */
  failoverGate: z.enum(['off', 'ask']).default('off'),
  /**
   * Asks a model that cools down only because of other runs before the run fails; compacts the transcript for a fallback with a smaller
   * window; skips a fallback that the rest of the cost limit cannot pay. False in runs of older versions.
   */
  weighsFallbacks: z.boolean().default(true),
  /**
   * Asks the host of a lost call for the result before the call is judged; restarts a call that `reconcile` found not started only when
   * its earlier attempt cannot run any more. False in runs of older versions.
   */
  provesLosses: z.boolean().default(true),
  /** After a refused key, the next key is asked, then the next model. False: only the next key. */
  fallbackOnAuth: z.boolean().default(true),
  /** How many `read` calls of one answer run in parallel. */
  readToolsParallelMax: z.number().int().min(1).max(16).default(RUN_LIMITS.readToolsParallelMax),
  /** Runs `read` tools with a time limit of at most 10 s as local activities: faster, with less to see in the Web UI. */
  localReadTools: z.boolean().default(false),
});
export type RunPolicy = z.infer<typeof RunPolicy>;

/** The policy of an agent that sets no option. For workers and tools only: a workflow receives its policy with the prepared run. */
export const DEFAULT_POLICY: RunPolicy = RunPolicy.parse({});
