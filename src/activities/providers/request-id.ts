import { cutText, redact } from '../../contracts/failures.js';

/** Several times the longest that a provider gives. */
const BYTES_MAX = 200;

/** A server's id of a request as it may stand in a history: a proxy can put anything into that header, of any length. Never throws. */
export function shownRequestId(id: string): string {
  return redact(cutText(id, BYTES_MAX));
}
