/** The output limit's own word, and those of servers that cut at the window's end or speak of their models' own words. */
export const LENGTH_REASONS: ReadonlySet<string> = new Set(['length', 'max_tokens', 'model_length', 'model_context_window_exceeded']);

/** What says that an answer ends in a call; the second is the word of the API's first years. */
export const CALL_REASONS: ReadonlySet<string> = new Set(['tool_calls', 'function_call']);

/** Finish reasons of servers whose model failed: what came before them is no answer. `abort` is of vLLM and SGLang. */
export const FAILED_REASONS: ReadonlySet<string> = new Set(['error', 'abort', 'insufficient_system_resource']);

/** Gemini's, for a call that it made no sense of and did not pass on. */
export const DROPPED_CALL_REASON = 'function_call_filter';
