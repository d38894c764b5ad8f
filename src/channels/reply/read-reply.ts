import { ReplyScanner } from './reply-scanner.js';

/** What becomes of the thinking of a model: it is left out, sent in messages of its own, or left in the text. */
export type ThinkingMode = 'suppressed' | 'separate' | 'included';

/** How an answer is read. */
export interface ReplyOptions {
  readonly thinking: ThinkingMode;
  /** An answer that is only this text is not sent. */
  readonly silentToken: string;
  /** False: more text may come. What it may change is held back. @default true */
  readonly isOver?: boolean;
}

/** An answer as people see it. */
export interface Reply {
  readonly text: string;
  /** The thinking between tags such as `<think>`, for mode `separate`. */
  readonly thinking: string;
  /** The message that the model replies to: `current`, or an id as it wrote it. */
  readonly replyTo?: string;
  /** The model chose not to answer. */
  readonly isSilent: boolean;
}

/**
 * Reads the answer of a model: takes out thinking between tags and reply directives (`[[reply_to_current]]`, `[[reply_to:ID]]`). In fenced
 * code and in code spans both are text. The text of an answer that is not over is the beginning of the text of every longer answer. Never
 * throws.
 */
export function readReply(raw: string, { thinking: mode, silentToken, isOver = true }: ReplyOptions): Reply {
  const { text, thinking, replyTo } = new ReplyScanner(raw, { isOver, isThinkingText: mode === 'included' }).scan();
  const seen = text.trim();
  const isSilent = seen === silentToken;
  const maySilence = !isOver && silentToken.startsWith(seen);
  return {
    text: isSilent || maySilence ? '' : text,
    thinking: mode === 'separate' ? thinking.trim() : '',
    ...(replyTo === undefined ? {} : { replyTo }),
    isSilent,
  };
}
