import { workflowInfo } from '@temporalio/workflow';
import { PAYLOAD_LIMITS, STEER_LIMITS, SUBAGENT_LIMITS } from '../../contracts/constants/limits.js';
import { NO_USAGE } from '../../contracts/models/usage.js';
import type { JsonValue } from '../../contracts/schemas/message.js';
import type { Reason, RunResult } from '../../contracts/schemas/run.js';
import { cutMiddle, cutText } from '../../contracts/text/redact.js';
import { fitNewest } from '../policies/tools/truncate-approvals.js';
import { fitUnconsumed } from '../policies/transcript/truncate-messages.js';
import { isOfSession } from '../temporal/session-parent.js';
import type { StartProblem } from '../temporal/start-arguments.js';
import type { Inbox } from './inbox.js';
import type { Run } from './run.js';

/** The result of a prepared run, limited to the size of one query answer. */
export function buildResult(
  run: Run,
  ending: Extract<Ending, { kind: 'end' }>,
  answer: { readonly output: string; readonly finalized?: boolean },
): RunResult {
  return {
    v: 1,
    runId: run.runId,
    executionId: workflowInfo().runId,
    reason: ending.reason,
    output: cutText(answer.output, PAYLOAD_LIMITS.outsideBytesMax / 2),
    ...(ending.structured === undefined ? {} : { structured: ending.structured }),
    turns: run.counters.turn,
    toolCalls: run.counters.toolCalls,
    usage: run.spending.usage,
    ...(run.spending.lastUsage ? { lastUsage: run.spending.lastUsage } : {}),
    ...(run.spending.costUsd === undefined ? {} : { costUsd: run.spending.costUsd }),
    models: run.models,
    ...modelsOf(run),
    ...unconsumed(run.inbox),
    ...steersOf(run.inbox),
    ...(run.unknownOutcomes.length === 0 ? {} : { unknownOutcomes: [...run.unknownOutcomes] }),
    ...subagentsOf(run),
    ...(run.spending.sampled ? { sampled: run.spending.sampled } : {}),
    ...conversationOf(run),
    ...(run.agent.handoffs === 0 ? {} : { agents: [...run.agent.names] }),
    ...(answer.finalized === undefined ? {} : { finalized: answer.finalized }),
    ...(ending.emptyAnswer ? { emptyAnswer: true } : {}),
    ...(ending.error
      ? { error: { ...ending.error, message: cutMiddle(ending.error.message, PAYLOAD_LIMITS.failureMessageBytesMax) } }
      : {}),
  };
}

/** The whole conversation by reference, for the next run of the session. */
function conversationOf({ runId, input, transcript }: Run): Pick<RunResult, 'conversation'> {
  if (!isOfSession(input)) return {};
  return { conversation: transcript.conversation(runId, workflowInfo().runId, Date.now()) };
}

/** The usage and cost of each model, and the switches between them. */
function modelsOf({ route, spending }: Run): Pick<RunResult, 'byModel' | 'switches' | 'cachedShare' | 'usageEstimated'> {
  const { byModel, cachedShare, isEstimated } = spending;
  return {
    ...(byModel.length === 0 ? {} : { byModel: [...byModel] }),
    ...(route.switches.length === 0 ? {} : { switches: [...route.switches] }),
    ...(cachedShare === undefined ? {} : { cachedShare }),
    ...(isEstimated ? { usageEstimated: true } : {}),
  };
}

/** The sub-agents that ended, with the beginning of each answer that the model did not read. */
function subagentsOf({ subagents: { ended, arrived } }: Run): Pick<RunResult, 'subagents'> {
  if (ended.length === 0) return {};
  const unread = new Map(arrived.map(({ runId, output }) => [runId, cutText(output, SUBAGENT_LIMITS.resultOutputBytesMax)]));
  return {
    subagents: ended.map((subagent) => {
      const output = unread.get(subagent.runId);
      return output === undefined ? subagent : { ...subagent, output };
    }),
  };
}

/** The result of a run that was not prepared, because of a problem or a cancel. */
export function unpreparedResult(inbox: Inbox, problem: StartProblem | undefined): RunResult {
  return {
    v: 1,
    runId: workflowInfo().workflowId,
    executionId: workflowInfo().runId,
    reason: problem ? 'error' : 'cancelled',
    output: '',
    turns: 0,
    toolCalls: 0,
    usage: NO_USAGE,
    models: [],
    ...unconsumed(inbox),
    ...steersOf(inbox),
    ...(problem ? { error: { type: problem.type, message: problem.message, turn: 0 } } : {}),
  };
}

/** The unconsumed messages, limited to a third of the size of one query answer. */
function unconsumed(inbox: Inbox): Pick<RunResult, 'unconsumed' | 'unconsumedCut'> {
  return fitUnconsumed(inbox.peek(), PAYLOAD_LIMITS.outsideBytesMax / 3);
}

/** The states of the newest messages; absent when there were none. */
function steersOf(inbox: Inbox): Pick<RunResult, 'steers'> {
  const steers = fitNewest(inbox.records(), { countMax: STEER_LIMITS.resultRecordsMax, bytesMax: STEER_LIMITS.resultBytesMax });
  return steers.length === 0 ? {} : { steers };
}

/** How the loop ends: with a reason, or with continue-as-new. */
export type Ending =
  | {
      readonly kind: 'end';
      readonly reason: Reason;
      readonly emptyAnswer?: boolean;
      readonly structured?: JsonValue;
      readonly error?: NonNullable<RunResult['error']>;
    }
  | { readonly kind: 'continue-as-new' };
