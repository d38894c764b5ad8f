import { workflowInfo } from '@temporalio/workflow';
import type { AcceptAnswerResult } from '../../contracts/activities.js';
import { RUN_LIMITS } from '../../contracts/constants/limits.js';
import { textOf } from '../../contracts/message-text.js';
import type { JsonValue, Message } from '../../contracts/schemas/message.js';
import { judgeQuality } from '../policies/answer/answer-quality.js';
import { checkCompletion, completionAttempts } from '../policies/answer/completion-checks.js';
import type { Run } from '../state/run.js';
import { type ActivityProblem, readActivityProblem } from '../temporal/failures.js';
import { acceptAnswer } from '../temporal/proxies.js';
import { correct } from './corrections.js';
import { resetReference } from './retry-model.js';
import { newSetbacks, type Setbacks } from './setbacks.js';

/** The verdict about an answer without calls. */
export type EndVerdict =
  | { readonly kind: 'accepted'; readonly structured?: JsonValue }
  /** A correction is in the transcript: another turn follows. */
  | { readonly kind: 'corrected' }
  | { readonly kind: 'failed'; readonly type: string; readonly message: string };

/**
 * Validates an answer that would end the run. The cheap checks come first: answer quality and the built-in completion checks. Then an
 * activity checks the output schema and the agent's completion gate. Each corrects the model a limited number of times in a row. After
 * that the answer is accepted, except one that does not match its output schema.
 */
export async function acceptEnd(run: Run, message: Message): Promise<EndVerdict> {
  if (isCorrected(run, message)) return { kind: 'corrected' };
  if (!run.policy.completion.custom && run.input.outputSchema === undefined) return { kind: 'accepted' };
  const answer = await callAcceptAnswer(run, message, { gate: run.policy.completion.custom });
  if ('problem' in answer) return { kind: 'failed', type: answer.problem.type, message: answer.problem.message };
  return settle(run, answer.result);
}

/** The JSON of a final answer, which cannot be corrected any more; undefined when it does not match the output schema. */
export async function structuredOf(run: Run, message: Message): Promise<JsonValue | undefined> {
  if (run.input.outputSchema === undefined) return undefined;
  const answer = await callAcceptAnswer(run, message, { gate: false });
  return 'result' in answer && answer.result.accept ? answer.result.structured : undefined;
}

/** Corrects an answer that is noise, announces work or leaves work unfinished. True when it did. */
function isCorrected(run: Run, message: Message): boolean {
  const { counters, policy } = run;
  if (policy.quality && counters.qualityCorrections < RUN_LIMITS.qualityCorrectionsMax) {
    const quality = judgeQuality(message, qualityFacts(run, message));
    if (quality.kind !== 'signal') {
      counters.qualityCorrections += 1;
      correct(run, { why: `${quality.kind}: ${quality.what}`, text: quality.correction, attempt: counters.qualityCorrections });
      return true;
    }
  }
  if (counters.gateAttempts >= completionAttempts(policy.completion, run.work)) return false;
  const check = checkCompletion(policy.completion, run.work);
  if (check.accept) return false;
  run.work = { ...run.work, told: check.told };
  counters.gateAttempts += 1;
  correct(run, { why: check.check, text: check.correction, attempt: counters.gateAttempts });
  return true;
}

function qualityFacts(run: Run, message: Message): Parameters<typeof judgeQuality>[1] {
  const answers = run.transcript.since(run.taskId).filter(({ role }) => role === 'assistant');
  const before = answers.slice(0, -1).findLast((one) => one.id !== message.id);
  return {
    turnsWithoutCalls: run.counters.qualityCorrections,
    tools: run.toolNames(),
    ...(before ? { previousText: textOf(before) } : {}),
  };
}

function settle(run: Run, result: AcceptAnswerResult): EndVerdict {
  const { counters, policy } = run;
  if (result.accept) return { kind: 'accepted', ...(result.structured === undefined ? {} : { structured: result.structured }) };
  if (result.by === 'schema') {
    if (counters.schemaAttempts >= RUN_LIMITS.gateAttemptsMax) {
      return { kind: 'failed', type: 'Run.OutputInvalid', message: `the answer does not match the output schema: ${result.correction}` };
    }
    counters.schemaAttempts += 1;
    correct(run, { why: 'output schema', text: result.correction, attempt: counters.schemaAttempts });
    return { kind: 'corrected' };
  }
  if (counters.gateAttempts >= policy.completion.attemptsMax) return { kind: 'accepted' };
  counters.gateAttempts += 1;
  correct(run, { why: 'completion gate', text: result.correction, attempt: counters.gateAttempts });
  return { kind: 'corrected' };
}

type AcceptOutcome = { readonly result: AcceptAnswerResult } | { readonly problem: ActivityProblem };

async function callAcceptAnswer(run: Run, message: Message, { gate }: { readonly gate: boolean }): Promise<AcceptOutcome> {
  const { outputSchema, context } = run.input;
  // built for each attempt: after `Transcript.Moved` the reference starts at the beginning
  const input = (): Parameters<typeof acceptAnswer>[0] => ({
    runId: run.runId,
    executionId: workflowInfo().runId,
    ...run.transcript.reference(),
    agent: run.prepared.setup.agent,
    turn: run.counters.turn,
    text: textOf(message),
    gate,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(context?.workspace === undefined ? {} : { workspace: context.workspace }),
  });
  const setbacks = newSetbacks();
  const summary = `turn ${run.counters.turn}: validate the answer`;
  const { heartbeatTimeoutMs } = run.prepared;
  for (;;) {
    try {
      return { result: await run.calls.abortable(() => acceptAnswer(input(), { summary, heartbeatTimeoutMs })) };
    } catch (error) {
      const problem = readActivityProblem(error);
      if (run.mustStop || !mayRetry(run, problem, setbacks)) return { problem };
    }
  }
}

function mayRetry(run: Run, { workerLost, type }: ActivityProblem, setbacks: Setbacks): boolean {
  if (type === 'Transcript.Moved' || type === 'Transcript.Unavailable') return resetReference(run, setbacks);
  setbacks.workers += 1;
  return workerLost && setbacks.workers <= RUN_LIMITS.workerLossesMax;
}
