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

/** What the loop does with an answer. */
export type Verdict =
  /** Run these calls. Any answer with whole calls runs them, whatever its finish reason. */
  | { readonly kind: 'tools'; readonly calls: readonly ToolCallPart[] }
  /** A call was cut by the output limit: run none of the turn's calls and say so. */
  | { readonly kind: 'truncated'; readonly calls: readonly ToolCallPart[] }
  /** The provider wants its own answer back to go on. */
  | { readonly kind: 'paused' }
  /** Valid but empty: corrected once. */
  | { readonly kind: 'empty' }
  /** `calls` were cut once too often: they do not run, and say so in the transcript that a later run goes on with. */
  | {
      readonly kind: 'end';
      readonly reason: 'completed' | 'max_tokens' | 'refusal';
      readonly emptyAnswer: boolean;
      readonly calls: readonly ToolCallPart[];
    };

/** Judges one complete answer. Pure; the counters are the caller's to keep. */
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

/** True for a message that has more in it than blanks and thinking. Providers refuse others, and nobody was answered by them. */
export function saysSomething({ parts }: Pick<Message, 'parts'>): boolean {
  return parts.some((part) => (part.type === 'text' ? part.text.trim() !== '' : part.type !== 'thinking'));
}
