/**
 * How servers say, with a status that has another meaning, that a key is not paid for: data, since the texts change. Waiting for such a
 * key is in vain, and the request has no mistake.
 */
export const SPENT_QUOTA_PATTERNS: readonly RegExp[] = [
  // Anthropic, with status 400 or 429
  /credit balance is too low/iu,
  /you have reached your .{0,40}API usage limits/iu,
  // xAI, with 429 or 403
  /used all available credits or reached its monthly spending limit/iu,
  /you have run out of credits/iu,
  /doesn't have any credits/iu,
  // Gemini, with the 429 of its rate limits; "you exceeded your current quota" is one of these
  /prepayment credits are depleted/iu,
  // OpenRouter, with 403
  /key limit exceeded/iu,
];
