import { z } from 'zod';

/** What a server of a known wire format does in its own way. Presets of known providers set them; a config's own win. */
export const ProviderQuirks = z.strictObject({
  /** False for servers that never send a finish reason: text that ended cleanly then counts as complete. @default true */
  strictTerminal: z.boolean().optional(),
  /** False for servers that refuse to be asked for usage in a stream: it is estimated unless it comes unasked. @default true */
  streamUsage: z.boolean().optional(),
  /** False for servers that take one call in an answer only. @default true */
  parallelToolCalls: z.boolean().optional(),
  /** False for models without pictures: they are named in place of being sent. @default true */
  images: z.boolean().optional(),
  /** True for servers of chat completions that take PDFs as parts; elsewhere they are named. @default false, true for OpenAI's own */
  files: z.boolean().optional(),
  /** Tools are told in the prompt in this template's words, and its calls are read out of the text. @default the API's own tools */
  toolCallsAsText: z.enum(['qwen3', 'gemma']).optional(),
  /** `openai-completions` only: how messages become one prompt. @default qwen3 */
  template: z.enum(['qwen3', 'gemma', 'plain']).optional(),
  /** Text between these tags is thinking, such as `think`. @default none */
  thinkTag: z
    .string()
    .regex(/^[\w:.|-]{1,40}$/u, 'the name of a tag without its brackets, such as "think"')
    .optional(),
  /** How the server is told how much to think. @default reasoning_effort */
  thinkingField: z.enum(['reasoning_effort', 'reasoning', 'enable_thinking', 'thinking', 'none']).optional(),
  /** The field in which the thinking of answers that call tools goes back, for servers that refuse such answers without it. @default none */
  thinkingBack: z.enum(['reasoning_content', 'reasoning']).optional(),
  /** True for servers that sign calls, as Gemini's, and refuse a call without its signature, or a result without its tool's name. @default false */
  thoughtSignatures: z.boolean().optional(),
  /** True for routers that encrypt the reasoning behind calls, as OpenRouter, and want it back with them. @default false */
  reasoningDetails: z.boolean().optional(),
  /** True for gateways that may end a cut answer as if it were whole: arguments that lack a closing bracket are then not completed. @default false */
  hidesCuts: z.boolean().optional(),
  /** The name of the output limit. @default max_tokens, and max_completion_tokens for OpenAI's own servers */
  outputLimitField: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
  /** The dialect of JSON Schema that parameters of tools are put into. @default json-schema */
  schemaDialect: z.enum(['json-schema', 'openai-strict', 'gemini']).optional(),
  /** The role of the prompt; `user` for models without one for it. @default system */
  systemRole: z.enum(['system', 'developer', 'user']).optional(),
  /** True for servers that refuse two messages of one role in a row. @default false */
  mergesRoles: z.boolean().optional(),
  /** True for servers that refuse an answer with calls and no text: it has an empty one then. @default false, null */
  emptyContent: z.boolean().optional(),
  /** The exact length of a call's id, letters and digits only. @default any up to 40 */
  callIdChars: z.number().int().min(6).max(40).optional(),
  /** Which header holds the key. @default authorization, as a bearer token */
  keyHeader: z.enum(['authorization', 'api-key', 'x-api-key']).optional(),
  /** Added to each address, such as `{ "api-version": "2025-04-01" }`. */
  query: z.record(z.string(), z.string()).optional(),
  /** Sent with each request; never keys. */
  headers: z.record(z.string(), z.string()).optional(),
  /** The server keeps prompts under a name it is given (`prompt_cache_key`). @default false, true for OpenAI's own */
  promptCacheKey: z.boolean().optional(),
});
export type ProviderQuirks = z.infer<typeof ProviderQuirks>;
