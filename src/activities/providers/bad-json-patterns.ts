/**
 * How servers say that the arguments of a tool call are no JSON: those of the transcript, or those their model just wrote. Data, since
 * the texts change.
 */
export const BAD_JSON_PATTERNS: readonly RegExp[] = [
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
