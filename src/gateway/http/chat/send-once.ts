import type { SessionHandle } from '../../../client/session-handle.js';
import { requireAccepted } from '../../../client/sessions/require-accepted.js';
import { HttpError } from '../access/http-error.js';
import { placeOf, type Resent, resend, stateOf } from './chat-run.js';
import type { StreamedAnswer } from './chat-stream.js';
import type { PostedNews } from './posted-chat.js';

/**
 * Sends a message, once for each id. One that was dropped is sent anew if the page asks again. Throws HttpError 409 if the page asks for another
 * answer to one that was answered.
 */
export async function sendOnce(
  session: SessionHandle,
  message: NonNullable<PostedNews['message']>,
  isAgain: boolean,
): Promise<StreamedAnswer> {
  const state = isAgain ? await stateOf(session) : undefined;
  const { id, place }: Resent = state ? resend(message.id, state) : { id: message.id, place: undefined };
  // an answer that is in work is shown: a page asks so after a lost connection
  if (typeof place === 'object' && 'runId' in place && place.isOpen) return { runId: place.runId };
  if (typeof place === 'object' && 'dropped' in place) throw dropped(id, place.dropped);
  if (place !== undefined && place !== 'queued') throw answered(id);
  const receipt = requireAccepted(await session.send({ ...message, id }));
  if (receipt.duplicate) {
    const now = await stateOf(session);
    if (!now || placeOf(id, now) === undefined) throw answered(id);
  }
  return { messageId: id };
}

function dropped(id: string, reason: string): HttpError {
  return new HttpError(409, 'MESSAGE_DROPPED', `message ${id} was dropped: ${reason}`);
}

function answered(id: string): HttpError {
  return new HttpError(409, 'ANSWERED', `message ${id} was answered, and the answer stays; send a new message`);
}
