import { FAILED_REASONS } from './finish-reasons.js';
import { ModelError } from './model-error.js';

/** Why a completion ended; undefined while it goes on. Throws `Model.Overloaded` when its server gave it up. */
export function finishReasonOf({ finish_reason: reason }: { readonly finish_reason: string | null | undefined }): string | undefined {
  if (FAILED_REASONS.has(reason ?? '')) throw new ModelError('Model.Overloaded', 'the server gave up in its answer');
  // some servers send an empty one with each piece
  return reason || undefined;
}
