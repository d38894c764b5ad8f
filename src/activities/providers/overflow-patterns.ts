/** How servers say that a request does not fit the model's window: data, since the texts change. */
export const OVERFLOW_PATTERNS: readonly RegExp[] = [
  /prompt is too long: \d+ tokens > \d+ maximum/iu,
  /input length and .?max_tokens.? exceed context limit/iu,
  /maximum context length (?:is|of) \d+/iu,
  /exceeds the (?:available context size|context window)/iu,
  /context[_ ]length[_ ]exceeded/iu,
  /request_too_large/iu,
  /too many tokens.*context/iu,
];
