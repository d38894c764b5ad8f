import { PerdureError } from '../../contracts/perdure-error.js';
import type { Receipt } from '../../contracts/schemas/run.js';

/**
 * Returns the receipt of a message that a session took. Throws `QUEUE_FULL` (4) for one that it did not take: it can be sent again with the
 * same id. Throws `MESSAGE_DROPPED` (4) for one that was sent before and dropped: it is never answered under this id.
 */
export function requireAccepted(receipt: Receipt): Receipt {
  const { id, accepted, duplicate } = receipt;
  if (accepted) return receipt;
  const [code, why] = duplicate
    ? ['MESSAGE_DROPPED', `message ${id} was dropped, and no run answers it; send it with another id`]
    : ['QUEUE_FULL', `the queue of the session is full; message ${id} was not accepted, send it again later`];
  throw new PerdureError(code, why, 4);
}
