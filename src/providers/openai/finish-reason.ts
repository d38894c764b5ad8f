import { DROPPED_CALL_REASON, FAILED_REASONS } from '../../activities/providers/finish-reasons.js';
import { ModelError } from '../contract/model-error.js';

/**
 * Why a completion ended; undefined while it goes on. Throws `Model.Overloaded` when its server gave it up, and `Model.BadJson` when
 * its server dropped the call in it.
 */
export function finishReasonOf({ finish_reason: reason }: { readonly finish_reason: string | null | undefined }): string | undefined {
  // Gemini says behind the word which filter it was: `content_filter: PROHIBITED_CONTENT`
  const word = reason?.split(':', 1)[0] ?? '';
  if (FAILED_REASONS.has(word)) throw new ModelError('Model.Overloaded', 'the server gave up in its answer');
  if (word === DROPPED_CALL_REASON) throw new ModelError('Model.BadJson', `the server dropped a call that it could not read: ${reason}`);
  // some servers send an empty one with each piece
  return word || undefined;
}
