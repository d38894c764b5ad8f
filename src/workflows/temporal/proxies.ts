import { type ActivityOptions, proxyActivities } from '@temporalio/workflow';
import type { AgentActivities } from '../../contracts/activities.js';
import {
  COMPACTION_LIMITS,
  HOOK_LIMITS,
  LOSS_LIMITS,
  MODEL_LIMITS,
  PAYLOAD_LIMITS,
  RUN_LIMITS,
  TOOL_LIMITS,
  WORKER_LIMITS,
} from '../../contracts/constants/limits.js';
import type { Effect } from '../../contracts/schemas/tool.js';

/** Temporal does not retry after a lost worker: the heartbeat timeout fails the call, and the workflow decides by the tool's effect. */
const LOST_WORKER = ['TemporalTimeout:Heartbeat'];

const DEFAULTS = {
  startToCloseTimeout: MODEL_LIMITS.turnTimeoutMs,
  heartbeatTimeout: WORKER_LIMITS.heartbeatTimeoutMs,
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
} as const satisfies ActivityOptions;

const {
  prepareRun: prepareRunActivity,
  callModel: callModelActivity,
  callTool: callToolActivity,
  reconcileTool: reconcileActivity,
  recallResult: recallActivity,
  checkTool: checkToolActivity,
  runHooks: runHooksActivity,
  acceptAnswer: acceptAnswerActivity,
  compact: compactActivity,
  resolveModel: resolveModelActivity,
} = proxyActivities<AgentActivities>(DEFAULTS);

/** Captures agent, prompt, tools and options, once per run. */
export function prepareRun(input: Parameters<AgentActivities['prepareRun']>[0]): ReturnType<AgentActivities['prepareRun']> {
  return prepareRunActivity.executeWithOptions(
    {
      retry: {
        maximumAttempts: RUN_LIMITS.prepareAttemptsMax,
        initialInterval: MODEL_LIMITS.backoffMs,
        backoffCoefficient: 1,
        nonRetryableErrorTypes: LOST_WORKER,
      },
      summary: 'prepare agent, prompt and tools',
    },
    [input],
  );
}

/** One model call with up to three attempts for reported failures. Each attempt has `totalMs`; all attempts of the final call share it. */
export function callModel(
  input: Parameters<AgentActivities['callModel']>[0],
  options: { summary: string; totalMs?: number; isFinal?: boolean; queue?: string },
): ReturnType<AgentActivities['callModel']> {
  return callModelActivity.executeWithOptions(
    {
      ...(options.queue === undefined ? {} : { taskQueue: options.queue }),
      startToCloseTimeout: options.totalMs ?? MODEL_LIMITS.turnTimeoutMs,
      ...(options.isFinal && options.totalMs !== undefined ? { scheduleToCloseTimeout: options.totalMs } : {}),
      retry: {
        maximumAttempts: MODEL_LIMITS.attemptsMax,
        initialInterval: MODEL_LIMITS.backoffMs,
        backoffCoefficient: MODEL_LIMITS.backoffCoefficient,
        nonRetryableErrorTypes: LOST_WORKER,
      },
      summary: cutSummary(options.summary),
    },
    [input],
  );
}

/** The task queue of a tool call, how long the call may wait there for a worker, and its heartbeat timeout. */
export interface ToolPlacement {
  readonly queue?: string;
  readonly queueWaitMs?: number;
  /** @default 30 s */
  readonly heartbeatTimeoutMs?: number;
}

/** One tool call. Retries cover failures of the activity itself: a tool that throws has a failed result and is not retried. */
export function callTool(
  input: Parameters<AgentActivities['callTool']>[0],
  options: { summary: string; placement: ToolPlacement },
): ReturnType<AgentActivities['callTool']> {
  return callToolActivity.executeWithOptions(
    {
      ...placementOptions(options.placement),
      startToCloseTimeout: input.timeoutMs + TOOL_LIMITS.timeoutMarginMs,
      retry: { maximumAttempts: attemptsFor(input.effect), initialInterval: TOOL_LIMITS.backoffMs, nonRetryableErrorTypes: LOST_WORKER },
      summary: cutSummary(options.summary),
    },
    [input],
  );
}

/** Asks the host of a lost call for the result. A host without a worker is not waited for. */
export function recallResult(
  input: Parameters<AgentActivities['recallResult']>[0],
  options: { summary: string; placement: ToolPlacement },
): ReturnType<AgentActivities['recallResult']> {
  return recallActivity.executeWithOptions(
    {
      ...placementOptions(options.placement),
      startToCloseTimeout: LOSS_LIMITS.recallTimeoutMs,
      retry: { maximumAttempts: 1 },
      summary: cutSummary(options.summary),
    },
    [input],
  );
}

/** Finds out the outcome of a call whose worker was lost. It only reads, so it may be retried. */
export function reconcileTool(
  input: Parameters<AgentActivities['reconcileTool']>[0],
  options: { summary: string; placement: ToolPlacement },
): ReturnType<AgentActivities['reconcileTool']> {
  return reconcileActivity.executeWithOptions(
    {
      ...placementOptions(options.placement),
      startToCloseTimeout: TOOL_LIMITS.reconcileTimeoutMs + TOOL_LIMITS.timeoutMarginMs,
      retry: { maximumAttempts: TOOL_LIMITS.attemptsMax, initialInterval: TOOL_LIMITS.backoffMs, nonRetryableErrorTypes: LOST_WORKER },
      summary: cutSummary(options.summary),
    },
    [input],
  );
}

/** Runs the config's gate, hooks and approval function for one call. They have no side effects, so a lost worker's check is repeated. */
export function checkTool(
  input: Parameters<AgentActivities['checkTool']>[0],
  options: { summary: string },
): ReturnType<AgentActivities['checkTool']> {
  return checkToolActivity.executeWithOptions(decision(options.summary), [input]);
}

/** Runs the hooks before the run, after it, or on its error. */
export function runHooks(
  input: Parameters<AgentActivities['runHooks']>[0],
  options: { summary: string },
): ReturnType<AgentActivities['runHooks']> {
  return runHooksActivity.executeWithOptions(decision(options.summary), [input]);
}

/** Validates the answer that would end the run, by the output schema and the agent's completion gate. */
export function acceptAnswer(
  input: Parameters<AgentActivities['acceptAnswer']>[0],
  options: { summary: string },
): ReturnType<AgentActivities['acceptAnswer']> {
  return acceptAnswerActivity.executeWithOptions(decision(options.summary), [input]);
}

/** Shortens a range of the transcript, by a model's summary or the config's compactor. */
export function compact(
  input: Parameters<AgentActivities['compact']>[0],
  options: { summary: string },
): ReturnType<AgentActivities['compact']> {
  return compactActivity.executeWithOptions(
    {
      startToCloseTimeout: COMPACTION_LIMITS.summaryTimeoutMs + TOOL_LIMITS.timeoutMarginMs,
      retry: {
        maximumAttempts: COMPACTION_LIMITS.summaryAttemptsMax,
        initialInterval: MODEL_LIMITS.backoffMs,
        nonRetryableErrorTypes: LOST_WORKER,
      },
      summary: cutSummary(options.summary),
    },
    [input],
  );
}

/** Looks up the model that a message switches a running agent to. */
export function resolveModel(
  input: Parameters<AgentActivities['resolveModel']>[0],
  options: { summary: string },
): ReturnType<AgentActivities['resolveModel']> {
  return resolveModelActivity.executeWithOptions(decision(options.summary), [input]);
}

/** Options of an activity that runs gates and hooks. Each hook has its own timeout; `startToCloseTimeout` limits all of them together. */
function decision(summary: string): ActivityOptions {
  return {
    startToCloseTimeout: HOOK_LIMITS.timeoutMsMax + TOOL_LIMITS.timeoutMarginMs,
    retry: { maximumAttempts: TOOL_LIMITS.attemptsMax, initialInterval: TOOL_LIMITS.backoffMs, nonRetryableErrorTypes: LOST_WORKER },
    summary: cutSummary(summary),
  };
}

function attemptsFor(effect: Effect): number {
  return effect === 'once' ? 1 : TOOL_LIMITS.attemptsMax;
}

function placementOptions(placement: ToolPlacement): ActivityOptions {
  return {
    ...(placement.queue === undefined ? {} : { taskQueue: placement.queue }),
    ...(placement.queueWaitMs === undefined ? {} : { scheduleToStartTimeout: placement.queueWaitMs }),
    ...(placement.heartbeatTimeoutMs === undefined ? {} : { heartbeatTimeout: placement.heartbeatTimeoutMs }),
  };
}

function cutSummary(text: string): string {
  const line = text.replaceAll(/\s+/gu, ' ');
  return line.length <= PAYLOAD_LIMITS.summaryCharsMax ? line : `${line.slice(0, PAYLOAD_LIMITS.summaryCharsMax - 1)}…`;
}
