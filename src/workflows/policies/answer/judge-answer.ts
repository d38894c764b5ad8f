import { RUN_LIMITS } from '../../../contracts/constants/limits.js';
import { textOf, toolCallsOf } from '../../../contracts/message-text.js';
import type { Message, ToolCallPart } from '../../../contracts/schemas/message.js';
import type { StopReason } from '../../../contracts/schemas/model.js';

/** Consecutive recoveries so far. */
export interface RecoveryCounters {
  readonly truncatedAnswers: number;
  readonly pausedAnswers: number;
  readonly emptyAnswers: number;
}

/** How the loop proceeds after an answer. */
export type Verdict =
  /** Run these calls. Complete calls run with any finish reason. */
  | { readonly kind: 'tools'; readonly calls: readonly ToolCallPart[] }
  /** The output limit cut a call: run none of the calls; their results give the reason. */
  | { readonly kind: 'truncated'; readonly calls: readonly ToolCallPart[] }
  /** The provider paused the answer: it continues when the next request contains it. */
  | { readonly kind: 'paused' }
  /** Valid but empty: the model is corrected. */
  | { readonly kind: 'empty' }
  /** The run ends. `calls`: calls that were cut too often; they do not run, but get results in the transcript. */
  | {
      readonly kind: 'end';
      readonly reason: 'completed' | 'max_tokens' | 'refusal';
      readonly emptyAnswer: boolean;
      readonly calls: readonly ToolCallPart[];
    };

/** Judges one complete answer. Pure; the caller keeps the counters. */
export function judgeAnswer(message: Message, stop: StopReason, counters: RecoveryCounters): Verdict {
  const calls = toolCallsOf(message);
  if (stop === 'length' && calls.length > 0) {
    return counters.truncatedAnswers < RUN_LIMITS.truncatedAnswersMax ? { kind: 'truncated', calls } : end('max_tokens', message);
  }
  if (calls.length > 0) return { kind: 'tools', calls };
  if (stop === 'length') return end('max_tokens', message);
  if (stop === 'refusal') return end('refusal', message);
  if (stop === 'paused' && counters.pausedAnswers < RUN_LIMITS.pausedAnswersMax) return { kind: 'paused' };
  if (isEmpty(message) && counters.emptyAnswers < RUN_LIMITS.emptyAnswersMax) return { kind: 'empty' };
  return end('completed', message);
}

function end(reason: 'completed' | 'max_tokens' | 'refusal', message: Message): Verdict {
  return { kind: 'end', reason, emptyAnswer: isEmpty(message), calls: toolCallsOf(message) };
}

function isEmpty(message: Message): boolean {
  return textOf(message).trim() === '';
}

/** True for a message with more content than blanks and thinking. Providers reject other messages. */
export function saysSomething({ parts }: Pick<Message, 'parts'>): boolean {
  return parts.some((part) => (part.type === 'text' ? part.text.trim() !== '' : part.type !== 'thinking'));
}
