import { setTimeout as delay } from 'node:timers/promises';
import { COMPACTION_LIMITS, MODEL_LIMITS } from '../../contracts/constants/limits.js';
import { FAILURES } from '../../contracts/failures.js';
import { textOf } from '../../contracts/message-text.js';
import { NO_USAGE } from '../../contracts/models/usage.js';
import type { Message } from '../../contracts/schemas/message.js';
import type { Usage } from '../../contracts/schemas/model.js';
import { CHARS_PER_TOKEN } from '../../contracts/text/estimate-tokens.js';
import { cleanText } from '../../contracts/text/sanitize-text.js';
import { ModelError } from '../../providers/contract/model-error.js';
import type { ModelAnswer, ModelProvider, ModelRequest } from '../../providers/contract/provider.js';
import type { ModelHooks } from '../call-model/model-hooks.js';
import { SUMMARY_PROMPT, summaryQuestion, summaryRequests } from './summary-prompt.js';

/** The input of a summary. */
export interface SummaryOrder {
  readonly provider: ModelProvider;
  readonly model: string;
  readonly agent: string;
  readonly messages: readonly Message[];
  /** The approximate maximum length of the summary. */
  readonly tokensMax: number;
  readonly signal: AbortSignal;
  /** The hooks that run around each request. */
  readonly hooks: ModelHooks;
  /** Called with the usage of each answer, also of an invalid one. */
  readonly onUsage: (usage: Usage) => void;
}

/**
 * Requests a model's summary of some messages. Messages that exceed one request are summarized piece by piece. Each piece has three
 * attempts with backoff. Throws the last ModelError when all failed, immediately for one that is not retryable; also the signal's reason,
 * and `Hook.Blocked` or `Hook.Aborted`.
 */
export async function requestSummary(order: SummaryOrder): Promise<string> {
  let summary: string | undefined;
  for (const record of summaryRequests(order.messages)) summary = await requestWithRetry(order, summaryQuestion(record, summary));
  if (summary === undefined) throw new ModelError('Model.BadRequest', 'there is nothing to sum up');
  return summary;
}

async function requestWithRetry(order: SummaryOrder, question: string): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await requestOnce(order, question);
    } catch (error) {
      order.signal.throwIfAborted();
      const mayPass = error instanceof ModelError && FAILURES[error.type].retryable;
      if (!mayPass || attempt >= COMPACTION_LIMITS.summaryAttemptsMax) throw error;
      await delay(pauseMs(attempt, error.retryAfterMs), undefined, { signal: order.signal });
    }
  }
}

async function requestOnce({ provider, model, agent, tokensMax, signal, hooks, onUsage }: SummaryOrder, question: string): Promise<string> {
  const request: ModelRequest = await hooks.before(agent, {
    model,
    prompt: SUMMARY_PROMPT,
    messages: [{ id: 'record', role: 'user', parts: [{ type: 'text', text: question }] }],
    tools: [],
    toolChoice: 'none',
    outputTokensMax: Math.max(MODEL_LIMITS.outputTokensMin, Math.min(tokensMax, COMPACTION_LIMITS.summaryOutputTokens)),
    signal,
    idleMs: COMPACTION_LIMITS.summaryTimeoutMs,
    onDelta: () => undefined,
  });
  const answer = await provider.call(request);
  const usage = answer.usage ?? estimate(question, summaryOf(answer.parts));
  onUsage(usage);
  const text = summaryOf(await hooks.after(answer.parts, signal, usage));
  if (answer.stop === 'refusal') throw new ModelError('Model.ContentFilter', 'the model refused to write a summary');
  if (text === '') throw new ModelError('Model.EmptyStream', 'the summary was empty');
  return text;
}

function summaryOf(parts: ModelAnswer['parts']): string {
  return cleanText(textOf({ id: '', role: 'assistant', parts: [...parts] })).trim();
}

function estimate(question: string, text: string): Usage {
  const inputTokens = Math.ceil((SUMMARY_PROMPT.length + question.length) / CHARS_PER_TOKEN);
  return { ...NO_USAGE, inputTokens, outputTokens: Math.ceil(text.length / CHARS_PER_TOKEN) };
}

function pauseMs(attempt: number, wanted: number | undefined): number {
  const { summaryBackoffMsMin, summaryBackoffMsMax } = COMPACTION_LIMITS;
  const usual = summaryBackoffMsMin * 3 ** (attempt - 1);
  return Math.min(summaryBackoffMsMax, Math.max(summaryBackoffMsMin, wanted ?? usual));
}
