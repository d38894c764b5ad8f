import { cutText } from '../../../contracts/text/redact.js';

/** A message that comes back unread. */
interface UnreadMessage {
  readonly id: string;
  readonly text: string;
}

/** Below this a cut message says nothing any more: rather fewer messages than shorter ones. */
const MESSAGE_BYTES_MIN = 200;
const COMMA_BYTES = 1;

/**
 * Messages as they fit into `bytesMax` of JSON, in their order: whole when all of them do, else each cut to an equal share. When
 * even that says nothing, the first ones are kept and the last entry says how many more there were.
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

/** One message as at most `bytesMax` of JSON, where its id leaves room for that. */
function fitMessage({ id, text }: UnreadMessage, bytesMax: number): UnreadMessage {
  const room = bytesMax - bytesOf({ id, text: '' });
  // escapes make JSON longer than its text, six times at most
  const plain = { id, text: cutText(text, room) };
  return bytesOf(plain) <= bytesMax ? plain : { id, text: cutText(text, Math.floor(room / 6)) };
}

function dropped(count: number): UnreadMessage {
  return { id: 'more', text: `[${count} more messages were not read; the history of the run has them]` };
}

function bytesOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}
