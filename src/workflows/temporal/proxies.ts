import { type ActivityOptions, type LocalActivityOptions, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { AgentActivities } from '../../contracts/activities.js';
import { hostQueueOf, namedHost } from '../../contracts/constants/host-queue.js';
import {
  AUTH_LIMITS,
  BACKGROUND_LIMITS,
  COMPACTION_LIMITS,
  DISK_LIMITS,
  ELICITATION_LIMITS,
  HOOK_LIMITS,
  HOSTING_LIMITS,
  LOSS_LIMITS,
  MODEL_LIMITS,
  PAYLOAD_LIMITS,
  RUN_LIMITS,
  SAMPLING_LIMITS,
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
  listTools: listToolsActivity,
  resolveModel: resolveModelActivity,
  checkSignature: checkSignatureActivity,
  awaitRoom: awaitRoomActivity,
  endCommands: endCommandsActivity,
} = proxyActivities<AgentActivities>(DEFAULTS);

const { callTool: callToolLocally } = proxyLocalActivities<Pick<AgentActivities, 'callTool'>>({
  startToCloseTimeout: DEFAULTS.startToCloseTimeout,
  cancellationType: DEFAULTS.cancellationType,
} satisfies LocalActivityOptions);

/** What each call of an activity says. */
export interface CallOptions {
  /** Shown beside the activity in the Web UI. */
  readonly summary: string;
  /** The heartbeat timeout of the run, `prepared.heartbeatTimeoutMs`. Undefined in runs of older versions: the default. */
  readonly heartbeatTimeoutMs: number | undefined;
}

/**
 * Captures agent, prompt, tools and options, once per run and handoff: on the given queue, else on the host that the input names, else on
 * any. The activity itself ends the attempts, because how many there may be depends on the failure.
 */
export function prepareRun(
  input: Parameters<AgentActivities['prepareRun']>[0],
  { summary, queue }: { readonly summary: string; readonly queue?: string } = { summary: 'prepare agent, prompt and tools' },
): ReturnType<AgentActivities['prepareRun']> {
  const host = namedHost(input.input);
  const taskQueue = queue ?? (host === undefined ? undefined : hostQueueOf(host));
  return prepareRunActivity.executeWithOptions(
    {
      ...(taskQueue === undefined ? {} : { taskQueue }),
      retry: {
        maximumAttempts: RUN_LIMITS.prepareHostsAskedMax,
        initialInterval: MODEL_LIMITS.backoffMs,
        backoffCoefficient: 1,
        nonRetryableErrorTypes: LOST_WORKER,
      },
      summary: cutSummary(summary),
    },
    [input],
  );
}

/** Checks the signature of an update on the run's own queue, whose workers have the key. */
export function checkSignature(input: Parameters<AgentActivities['checkSignature']>[0]): ReturnType<AgentActivities['checkSignature']> {
  const options = { startToCloseTimeout: AUTH_LIMITS.checkTimeoutMs, summary: `check the signature of ${input.verb}` };
  return checkSignatureActivity.executeWithOptions(options, [input]);
}

/** Waits until the disk of the worker has room. Attempts are not part of the history, so it may wait for days. */
export function awaitRoom(queue: string | undefined): Promise<void> {
  return awaitRoomActivity.executeWithOptions(
    {
      ...(queue === undefined ? {} : { taskQueue: queue }),
      startToCloseTimeout: DISK_LIMITS.checkTimeoutMs,
      retry: { initialInterval: DISK_LIMITS.checkMsMin, backoffCoefficient: 2, maximumInterval: DISK_LIMITS.checkMsMax },
      summary: 'wait for room on the disk',
    },
    [],
  );
}

/** Ends the background commands of a run on the host of its workspace. A host without a worker is not waited for. */
export function endCommands(
  input: Parameters<AgentActivities['endCommands']>[0],
  queue: string | undefined,
): ReturnType<AgentActivities['endCommands']> {
  return endCommandsActivity.executeWithOptions(
    {
      ...(queue === undefined ? {} : { taskQueue: queue }),
      startToCloseTimeout: BACKGROUND_LIMITS.endRunTimeoutMs,
      scheduleToStartTimeout: BACKGROUND_LIMITS.endRunQueueMs,
      retry: { maximumAttempts: TOOL_LIMITS.attemptsMax, initialInterval: TOOL_LIMITS.backoffMs, nonRetryableErrorTypes: LOST_WORKER },
      summary: 'end the background commands',
    },
    [input],
  );
}

/**
 * One model call with up to three attempts for reported failures. Each attempt has `totalMs`, and `waitMsMax` for its place; all attempts of
 * the final call share it.
 */
export function callModel(
  input: Parameters<AgentActivities['callModel']>[0],
  options: CallOptions & { totalMs?: number; waitMsMax?: number; isFinal?: boolean; queue?: string },
): ReturnType<AgentActivities['callModel']> {
  return callModelActivity.executeWithOptions(
    {
      ...(options.queue === undefined ? {} : { taskQueue: options.queue }),
      ...timing(options, (options.totalMs ?? MODEL_LIMITS.turnTimeoutMs) + (options.waitMsMax ?? 0)),
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

/** Where a tool call runs: its task queue, and how long the call may wait there for a worker. */
export interface ToolPlacement {
  /** In the workflow task of this worker, without a task of its own. @default false */
  readonly local?: boolean;
  readonly queue?: string;
  readonly queueWaitMs?: number;
}

/** One tool call. Retries cover failures of the activity itself: a tool that throws has a failed result and is not retried. */
export function callTool(
  input: Parameters<AgentActivities['callTool']>[0],
  options: CallOptions & { placement: ToolPlacement },
): ReturnType<AgentActivities['callTool']> {
  // the tool's own limit stands still while it waits for answers
  const { asks, samples } = input;
  const samplingsMs = (samples?.requestsMax ?? 0) * SAMPLING_LIMITS.timeoutMs;
  const answersMs = (asks?.expireMs ?? 0) * ELICITATION_LIMITS.perCallMax + samplingsMs;
  const startToCloseMs = input.timeoutMs + TOOL_LIMITS.timeoutMarginMs + answersMs;
  const callOptions = {
    retry: { maximumAttempts: attemptsFor(input.effect), initialInterval: TOOL_LIMITS.backoffMs, nonRetryableErrorTypes: LOST_WORKER },
    summary: cutSummary(options.summary),
  };
  if (options.placement.local) return callToolLocally.executeWithOptions({ ...callOptions, startToCloseTimeout: startToCloseMs }, [input]);
  return callToolActivity.executeWithOptions(
    { ...placementOptions(options.placement), ...timing(options, startToCloseMs), ...callOptions },
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
  options: CallOptions & { placement: ToolPlacement },
): ReturnType<AgentActivities['reconcileTool']> {
  return reconcileActivity.executeWithOptions(
    {
      ...placementOptions(options.placement),
      ...timing(options, TOOL_LIMITS.reconcileTimeoutMs + TOOL_LIMITS.timeoutMarginMs),
      retry: { maximumAttempts: TOOL_LIMITS.attemptsMax, initialInterval: TOOL_LIMITS.backoffMs, nonRetryableErrorTypes: LOST_WORKER },
      summary: cutSummary(options.summary),
    },
    [input],
  );
}

/** Runs the config's gate, hooks and approval function for one call. They have no side effects, so a lost worker's check is repeated. */
export function checkTool(
  input: Parameters<AgentActivities['checkTool']>[0],
  options: CallOptions,
): ReturnType<AgentActivities['checkTool']> {
  return checkToolActivity.executeWithOptions(decision(options), [input]);
}

/** Runs the hooks before the run, after it, or on its error. */
export function runHooks(input: Parameters<AgentActivities['runHooks']>[0], options: CallOptions): ReturnType<AgentActivities['runHooks']> {
  return runHooksActivity.executeWithOptions(decision(options), [input]);
}

/** Validates the answer that would end the run, by the output schema and the agent's completion gate. */
export function acceptAnswer(
  input: Parameters<AgentActivities['acceptAnswer']>[0],
  options: CallOptions,
): ReturnType<AgentActivities['acceptAnswer']> {
  return acceptAnswerActivity.executeWithOptions(decision(options), [input]);
}

/** Shortens a range of the transcript, by a model's summary or the config's compactor. */
export function compact(input: Parameters<AgentActivities['compact']>[0], options: CallOptions): ReturnType<AgentActivities['compact']> {
  return compactActivity.executeWithOptions(
    {
      ...timing(options, COMPACTION_LIMITS.summaryTimeoutMs + TOOL_LIMITS.timeoutMarginMs),
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

/** Lists the tools of MCP servers again, on the host of the workspace. */
export function listTools(
  input: Parameters<AgentActivities['listTools']>[0],
  { queue, ...options }: CallOptions & { readonly queue?: string },
): ReturnType<AgentActivities['listTools']> {
  return listToolsActivity.executeWithOptions({ ...decision(options), ...(queue === undefined ? {} : { taskQueue: queue }) }, [input]);
}

/** Looks up the model that a message switches a running agent to. */
export function resolveModel(
  input: Parameters<AgentActivities['resolveModel']>[0],
  options: CallOptions,
): ReturnType<AgentActivities['resolveModel']> {
  return resolveModelActivity.executeWithOptions(decision(options), [input]);
}

/** Options of an activity that runs gates and hooks. Each hook has its own timeout; `startToCloseTimeout` limits all of them together. */
function decision(options: CallOptions): ActivityOptions {
  return {
    ...timing(options, HOOK_LIMITS.timeoutMsMax + TOOL_LIMITS.timeoutMarginMs),
    retry: { maximumAttempts: TOOL_LIMITS.attemptsMax, initialInterval: TOOL_LIMITS.backoffMs, nonRetryableErrorTypes: LOST_WORKER },
    summary: cutSummary(options.summary),
  };
}

/** The time limit of an attempt, and its heartbeat timeout. */
function timing({ heartbeatTimeoutMs }: CallOptions, startToCloseMs: number): ActivityOptions {
  return { startToCloseTimeout: startToCloseMs, heartbeatTimeout: heartbeatTimeoutOf(heartbeatTimeoutMs, startToCloseMs) };
}

/**
 * The heartbeat timeout of an attempt with a time limit, for a run with this setting. The server lowers a heartbeat timeout to the time limit. A lost worker would then
 * look like a call that took too long, so the heartbeat timeout stays a tenth below the limit.
 */
export function heartbeatTimeoutOf(settingMs: number | undefined, startToCloseMs: number): number {
  if (settingMs === undefined) return WORKER_LIMITS.heartbeatTimeoutMs;
  return Math.min(settingMs, Math.max(HOSTING_LIMITS.heartbeatTimeoutMsMin, Math.floor(startToCloseMs * 0.9)));
}

function attemptsFor(effect: Effect): number {
  return effect === 'once' ? 1 : TOOL_LIMITS.attemptsMax;
}

function placementOptions(placement: ToolPlacement): ActivityOptions {
  return {
    ...(placement.queue === undefined ? {} : { taskQueue: placement.queue }),
    ...(placement.queueWaitMs === undefined ? {} : { scheduleToStartTimeout: placement.queueWaitMs }),
  };
}

function cutSummary(text: string): string {
  const line = text.replaceAll(/\s+/gu, ' ');
  return line.length <= PAYLOAD_LIMITS.summaryCharsMax ? line : `${line.slice(0, PAYLOAD_LIMITS.summaryCharsMax - 1)}…`;
}
