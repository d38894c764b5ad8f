import { z } from 'zod';

/** Deviations of a server from its wire format. Known providers set them; a config overrides them. */
export const ProviderQuirks = z.strictObject({
  /** False: the server never sends a finish reason, so a text that ended cleanly counts as complete. @default true */
  strictTerminal: z.boolean().optional(),
  /** False: the server refuses requests for usage in streams. Usage is estimated, unless the server sends it anyway. @default true */
  streamUsage: z.boolean().optional(),
  /** False: the server accepts only one call in an answer. @default true */
  parallelToolCalls: z.boolean().optional(),
  /** False: its models accept no images. Images are replaced by their names. @default true */
  images: z.boolean().optional(),
  /** True: the server accepts PDFs. Otherwise they are replaced by their names. @default false; true for hosts of OpenAI and Azure */
  files: z.boolean().optional(),
  /** Describes tools in the prompt in this template's format, and parses calls from the text. @default off: the API's tools */
  toolCallsAsText: z.enum(['qwen3', 'gemma']).optional(),
  /** How messages become one prompt. `plain` cannot describe tools: a request with tools fails with `Model.BadRequest`. @default `qwen3` */
  template: z.enum(['qwen3', 'gemma', 'plain']).optional(),
  /** Name of the tags around thinking in the text, without brackets, such as `think`. @default none */
  thinkTag: z
    .string()
    .regex(/^[\w:.|-]{1,40}$/u, 'the name of a tag without its brackets, such as "think"')
    .optional(),
  /** Field of the request that sets thinking. @default `reasoning_effort` */
  thinkingField: z.enum(['reasoning_effort', 'reasoning', 'enable_thinking', 'thinking', 'none']).optional(),
  /** Field that sends thinking of answers with calls back, for servers that require it. @default none */
  thinkingBack: z.enum(['reasoning_content', 'reasoning']).optional(),
  /** True: the server signs calls, as Gemini does. It refuses calls without signature and results without a tool name. @default false */
  thoughtSignatures: z.boolean().optional(),
  /** True: the server encrypts the reasoning of calls, as OpenRouter does, and requires it back. @default false */
  reasoningDetails: z.boolean().optional(),
  /**
   * True: the server may end a truncated answer as if it were complete, as gateways do that rewrite streams. Arguments without a closing
   * bracket are then not repaired, and the model is corrected. @default false
   */
  hidesCuts: z.boolean().optional(),
  /** Field of the output limit. @default `max_tokens`; `max_completion_tokens` for hosts of OpenAI */
  outputLimitField: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
  /**
   * Dialect of JSON Schema for tool parameters. A tool that `openai-strict` cannot express is sent without strict mode; the others stay
   * strict. @default `json-schema`
   */
  schemaDialect: z.enum(['json-schema', 'openai-strict', 'gemini']).optional(),
  /** Role of the system prompt. Use `user` for models without a system role. @default `system` */
  systemRole: z.enum(['system', 'developer', 'user']).optional(),
  /** True: the server refuses two messages of one role in a row. They are joined. @default false */
  mergesRoles: z.boolean().optional(),
  /** True: the server refuses an answer with calls and without text. Its text is then empty instead of `null`. @default false */
  emptyContent: z.boolean().optional(),
  /** Exact length of call ids, which are letters and digits. @default any, up to 40 */
  callIdChars: z.number().int().min(6).max(40).optional(),
  /** Header of the key. @default `authorization`, as a bearer token */
  keyHeader: z.enum(['authorization', 'api-key', 'x-api-key']).optional(),
  /** Query parameters of each request, such as `{ "api-version": "2025-04-01" }`; never keys. @default none */
  query: z.record(z.string(), z.string()).optional(),
  /** Headers of each request; never keys. @default none */
  headers: z.record(z.string(), z.string()).optional(),
  /** True: the server caches prompts under a given name (`prompt_cache_key`). @default false; true for hosts of OpenAI and Azure */
  promptCacheKey: z.boolean().optional(),
});
export type ProviderQuirks = z.infer<typeof ProviderQuirks>;
