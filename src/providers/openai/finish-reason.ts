import { ModelError } from '../contract/model-error.js';

/**
 * Why a completion ended; undefined while it goes on. Throws `Model.Overloaded` when its server gave it up, and `Model.BadJson` when
 * its server dropped the call in it.
 */
export function finishReasonOf({ finish_reason: reason }: { readonly finish_reason: string | null | undefined }): string | undefined {
  // Gemini says behind the word which filter it was: `content_filter: PROHIBITED_CONTENT`
  const word = reason?.split(':', 1)[0] ?? '';
  if (FAILED_REASONS.has(word)) throw new ModelError('Model.Overloaded', 'the server reported a failure in its response');
  if (word === DROPPED_CALL_REASON)
    throw new ModelError('Model.BadJson', `the server dropped a tool call that it could not parse: ${reason}`);
  // some servers send an empty one with each piece
  return word || undefined;
}

/** The output limit's own word, and those of servers that cut at the window's end or speak of their models' own words. */
export const LENGTH_REASONS: ReadonlySet<string> = new Set(['length', 'max_tokens', 'model_length', 'model_context_window_exceeded']);

/** What says that an answer ends in a call; the second is the word of the API's first years. */
export const CALL_REASONS: ReadonlySet<string> = new Set(['tool_calls', 'function_call']);

/** Finish reasons of servers whose model failed: what came before them is no answer. `abort` is of vLLM and SGLang. */
const FAILED_REASONS: ReadonlySet<string> = new Set(['error', 'abort', 'insufficient_system_resource']);

/** Gemini's, for a call that it made no sense of and did not pass on. */
const DROPPED_CALL_REASON = 'function_call_filter';
