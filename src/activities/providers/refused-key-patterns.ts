/**
 * How servers say with status 400 that they do not take a key, or none from where one is: data, since the texts change. The next key may
 * be taken, so it must not pass for a mistake of the request.
 */
export const REFUSED_KEY_PATTERNS: readonly RegExp[] = [
  // xAI
  /incorrect api key/iu,
  // Gemini
  /api key not valid/iu,
  /api key expired/iu,
  /api[_ ]key[_ ]invalid/iu,
  /user location is not supported/iu,
  // Anthropic and Groq
  /organization has been (?:disabled|restricted)/iu,
  // LiteLLM without a database knows one key, and looks for every other one there
  /no connected db/iu,
];
