import { STEER_MODES } from '../../contracts/constants/steer-modes.js';
import type { QueuedMessage } from '../../contracts/schemas/carried-state.js';

/** The same message sent twice as one: under the first one's id, as urgent as the more urgent, and unread for as long as the longer. */
export function mergeMessages(first: QueuedMessage, second: QueuedMessage): QueuedMessage {
  const urgency = Math.max(urgencyOf(first), urgencyOf(second));
  const mode = STEER_MODES[urgency];
  const { id, text } = first;
  const expiresAt = Math.max(first.expiresAt ?? NEVER, second.expiresAt ?? NEVER);
  return { id, text, ...(mode === undefined ? {} : { mode }), ...(expiresAt === NEVER ? {} : { expiresAt }) };
}

const NEVER = Number.POSITIVE_INFINITY;

/** The modes are listed in the order of their urgency. */
function urgencyOf({ mode = 'boundary' }: QueuedMessage): number {
  return STEER_MODES.indexOf(mode);
}
