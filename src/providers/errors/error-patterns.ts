import type { ModelFailureType } from '../contract/model-error.js';

/**
 * How servers say that a request does not fit the model's window: data, since the texts change. A server that cuts the prompt in
 * silence says nothing, and an answer whose input is larger than the window that we know of proves nothing: the window may be larger
 * than we know. Such an answer is taken, and its usage tells the run that it is time to compact.
 */
const OVERFLOW_PATTERNS: readonly RegExp[] = [
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
  // Text Generation Inference
  /.?inputs.? must have less than \d+ tokens/iu,
  // llama.cpp, with status 500
  /context size has been exceeded/iu,
];

/** How OpenAI says with status 429 that one request is more than a whole minute may have: no wait helps it. */
const RATE_OVERFLOW_PATTERNS: readonly RegExp[] = [/request too large for .{0,200}tokens per min/iu];

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

/**
 * How servers say that the arguments of a tool call are no JSON: those of the transcript, or those their model just wrote. Data, since
 * the texts change.
 */
const BAD_JSON_PATTERNS: readonly RegExp[] = [
  // llama.cpp and gateways before it; also "messages.2.tool_calls.0.function.arguments: arguments must be a valid JSON object string"
  /\barguments\b.{0,80}\bJSON\b/iu,
  /\bJSON\b.{0,40}\b(?:tool|function)[ _]?calls?\b.{0,20}\barguments\b/iu,
  // Ollama
  /error parsing tool call/iu,
  /invalid tool call arguments/iu,
  // vLLM and SGLang pass on what Python's parser says of the transcript
  /(?:Expecting (?:value|property name|'[,:]' delimiter)|Unterminated string|Invalid control character|Invalid \\escape|Extra data).{0,60}line \d+ column \d+ \(char \d+\)/u,
  // Anthropic
  /tool_use\.input: Input should be/u,
];

/**
 * How servers say with the status of a refused key that it is the content they refuse: data, since the texts change. The key is good
 * for anything else.
 */
const REFUSED_CONTENT_PATTERNS: readonly RegExp[] = [
  // xAI
  /content violates usage guidelines/iu,
  // OpenRouter
  /requires moderation on .{0,80}your input was flagged/iu,
];

/**
 * How servers say with status 400 that they do not take a key, or none from where one is: data, since the texts change. The next key may
 * be taken, so it must not pass for a mistake of the request.
 */
const REFUSED_KEY_PATTERNS: readonly RegExp[] = [
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

/**
 * How servers say, with a status that has another meaning, that a key is not paid for: data, since the texts change. Waiting for such a
 * key is in vain, and the request has no mistake.
 */
const SPENT_QUOTA_PATTERNS: readonly RegExp[] = [
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

interface Telling {
  readonly patterns: readonly RegExp[];
  readonly type: ModelFailureType;
  /** With any other status the words are by the way; undefined stands for an error told within a stream. */
  readonly statuses: readonly (number | undefined)[];
}

/** Statuses of a request that cannot be done, and that of servers which tell of any fault by it. */
const REFUSALS = [undefined, 400, 413, 422, 500];

/** The first that says it counts. */
const TELLINGS: readonly Telling[] = [
  { patterns: BAD_JSON_PATTERNS, type: 'Model.BadJson', statuses: REFUSALS },
  { patterns: OVERFLOW_PATTERNS, type: 'Model.ContextOverflow', statuses: REFUSALS },
  { patterns: RATE_OVERFLOW_PATTERNS, type: 'Model.ContextOverflow', statuses: [undefined, 429] },
  { patterns: SPENT_QUOTA_PATTERNS, type: 'Model.Quota', statuses: [undefined, 400, 403, 429] },
  { patterns: REFUSED_CONTENT_PATTERNS, type: 'Model.ContentFilter', statuses: [undefined, 400, 403] },
  { patterns: REFUSED_KEY_PATTERNS, type: 'Model.Auth', statuses: [400] },
];

/** What a server's words tell of that its status does not; undefined where they tell nothing. Never throws. */
export function typeFromMessage(message: string, status: number | undefined): ModelFailureType | undefined {
  return TELLINGS.find(({ patterns, statuses }) => statuses.includes(status) && patterns.some((pattern) => pattern.test(message)))?.type;
}
