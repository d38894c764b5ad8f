/**
 * How servers say that a request does not fit the model's window: data, since the texts change. A server that cuts the prompt in
 * silence says nothing, and an answer whose input is larger than the window that we know of proves nothing: the window may be larger
 * than we know. Such an answer is taken, and its usage tells the run that it is time to compact.
 */
export const OVERFLOW_PATTERNS: readonly RegExp[] = [
  /prompt is too long/iu,
  /input length and .?max_tokens.? exceed context limit/iu,
  /maximum (?:context|prompt) length (?:is|of) \d+/iu,
  /\d+ maximum context length/iu,
  /exceeds the (?:available context size|context window)/iu,
  /context window exceeds limit/iu,
  /greater than the context length/iu,
  /exceeded (?:model token limit|(?:max )?context length)/iu,
  /(?:context[_ ]length|model_context_window)[_ ]exceeded/iu,
  /input token count.{0,40}exceeds the maximum/iu,
  /prompt token count.{0,40}exceeds the limit of \d+/iu,
  /input is too long for requested model/iu,
  /reduce the length of the messages/iu,
  /request_too_large/iu,
  /too many tokens.*context/iu,
  // vLLM and LM Studio
  /context length (?:is|of) only \d+/iu,
  // SGLang and Together
  /longer than the model's context length/iu,
  /tokens \+ .?max_new_tokens.? must be <= \d+/iu,
  // llama.cpp, with status 500
  /context size has been exceeded/iu,
];

/** How OpenAI says with status 429 that one request is more than a whole minute may have: no wait helps it. */
export const RATE_OVERFLOW_PATTERNS: readonly RegExp[] = [/request too large for .{0,200}tokens per min/iu];

/** Those of them where the prompt alone may fit: the server adds the output limit that was asked for. */
export const LOWER_OUTPUT_PATTERNS: readonly RegExp[] = [
  /input length and .?max_tokens.? exceed context limit/iu,
  /requested \d+ tokens \(\d+ in the messages, \d+ in the completion\)/iu,
  /max(?:_completion)?_tokens.{0,40} is too large/iu,
  /passed \d+ input tokens and requested \d+ output tokens/iu,
  /tokens \+ .?max_new_tokens.? must be <= \d+/iu,
  /requested about \d+ tokens \(.{0,80} in the output\)/iu,
  /input or output tokens must be reduced/iu,
];
