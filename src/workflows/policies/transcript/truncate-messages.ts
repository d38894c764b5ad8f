import type { RunResult } from '../../../contracts/schemas/run.js';
import { cutText } from '../../../contracts/text/redact.js';

/** A message that was not delivered. */
interface UnreadMessage {
  readonly id: string;
  readonly text: string;
}

/** The minimum size of a cut message. Below this, messages are dropped instead. */
const MESSAGE_BYTES_MIN = 200;
const COMMA_BYTES = 1;

/** The undelivered messages of a result, in `bytesMax` of JSON. `unconsumedCut`: not all of them are whole. */
export function fitUnconsumed(messages: readonly UnreadMessage[], bytesMax: number): Pick<RunResult, 'unconsumed' | 'unconsumedCut'> {
  const unconsumed = fitMessages(messages, bytesMax);
  const isWhole = unconsumed.length === messages.length && unconsumed.every(({ text }, index) => text === messages[index]?.text);
  return { unconsumed, ...(isWhole ? {} : { unconsumedCut: true }) };
}

/**
 * The messages that fit into `bytesMax` of JSON, in their order: whole when all fit, else each cut to an equal share. Below the minimum
 * share only the first ones are kept, and a last entry gives the number of the others.
 */
export function fitMessages(messages: readonly UnreadMessage[], bytesMax: number): UnreadMessage[] {
  const whole = messages.map(({ id, text }) => ({ id, text }));
  if (bytesOf(whole) <= bytesMax) return whole;
  const kept: UnreadMessage[] = [];
  let left = bytesMax - bytesOf([dropped(messages.length)]);
  const share = Math.max(MESSAGE_BYTES_MIN, Math.floor(left / messages.length) - COMMA_BYTES);
  for (const message of messages) {
    const cut = fitMessage(message, share);
    left -= bytesOf(cut) + COMMA_BYTES;
    if (left < 0) break;
    kept.push(cut);
  }
  return kept.length === messages.length ? kept : [...kept, dropped(messages.length - kept.length)];
}

/** One message, cut to `bytesMax` of JSON where the length of its id allows it. */
function fitMessage({ id, text }: UnreadMessage, bytesMax: number): UnreadMessage {
  const room = bytesMax - bytesOf({ id, text: '' });
  // escapes make JSON at most six times as long as its text
  const plain = { id, text: cutText(text, room) };
  return bytesOf(plain) <= bytesMax ? plain : { id, text: cutText(text, Math.floor(room / 6)) };
}

function dropped(count: number): UnreadMessage {
  return { id: 'more', text: `[${count} more messages were not read; query unread has them]` };
}

function bytesOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}
