import { z } from 'zod';
import { WireRefusal } from '../../../format/format-server.js';
import { refusalOf } from '../../server/schema-refusal.js';

const FUNCTION_NAME = /^[a-zA-Z0-9_-]+$/;

const TextBlock = z.strictObject({ type: z.literal('text'), text: z.string() });
const UserBlock = z.union([
  TextBlock,
  z.strictObject({ type: z.literal('image_url'), image_url: z.strictObject({ url: z.string(), detail: z.string().optional() }) }),
  z.strictObject({ type: z.literal('file'), file: z.record(z.string(), z.string()) }),
]);
const Text = z.union([z.string(), z.array(TextBlock).min(1)]);

const ToolCall = z.strictObject({
  id: z.string().min(1).max(40),
  type: z.literal('function'),
  function: z.strictObject({ name: z.string().regex(FUNCTION_NAME).max(64), arguments: z.string() }),
});

const name = z.string().optional();
const ROLES = "'system', 'assistant', 'user', 'function', 'tool', and 'developer'";

/** A message of a chat completions request. */
export const ChatMessage = z.discriminatedUnion(
  'role',
  [
    z.strictObject({ role: z.literal('system'), content: Text, name }),
    z.strictObject({ role: z.literal('developer'), content: Text, name }),
    z.strictObject({ role: z.literal('user'), content: z.union([z.string(), z.array(UserBlock).min(1)]), name }),
    z.strictObject({
      role: z.literal('assistant'),
      content: Text.nullable().optional(),
      refusal: z.string().nullable().optional(),
      tool_calls: z.array(ToolCall).min(1).optional(),
      name,
    }),
    // its reference has no name here; the API takes one, and frameworks send it
    z.strictObject({ role: z.literal('tool'), content: Text, tool_call_id: z.string(), name }),
  ],
  { error: (issue) => (issue.code === 'invalid_union' ? ROLES : undefined) },
);
export type ChatMessage = z.infer<typeof ChatMessage>;

const Tool = z.strictObject({
  type: z.literal('function'),
  function: z.strictObject({
    name: z.string().regex(FUNCTION_NAME).max(64),
    description: z.string().optional(),
    parameters: z.record(z.string(), z.json()).optional(),
    strict: z.boolean().nullable().optional(),
  }),
});

/** A chat completions request, with no field the API does not know. */
export const ChatRequest = z.strictObject({
  model: z.string().min(1),
  messages: z.array(ChatMessage).min(1),
  tools: z.array(Tool).min(1).optional(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      z.strictObject({ type: z.literal('function'), function: z.strictObject({ name: z.string() }) }),
    ])
    .optional(),
  parallel_tool_calls: z.boolean().optional(),
  stream: z.boolean().nullable().optional(),
  stream_options: z
    .strictObject({ include_usage: z.boolean().optional(), include_obfuscation: z.boolean().optional() })
    .nullable()
    .optional(),
  max_tokens: z.int().min(1).nullable().optional(),
  max_completion_tokens: z.int().min(1).nullable().optional(),
  temperature: z.number().min(0).max(2).nullable().optional(),
  top_p: z.number().min(0).max(1).nullable().optional(),
  n: z.literal(1).nullable().optional(),
  stop: z
    .union([z.string(), z.array(z.string()).max(4)])
    .nullable()
    .optional(),
  seed: z.int().nullable().optional(),
  user: z.string().optional(),
  store: z.boolean().nullable().optional(),
  metadata: z.record(z.string(), z.string()).nullable().optional(),
  response_format: z.looseObject({ type: z.enum(['text', 'json_object', 'json_schema']) }).optional(),
  reasoning_effort: z.string().optional(),
  prompt_cache_key: z.string().optional(),
  safety_identifier: z.string().optional(),
  service_tier: z.string().nullable().optional(),
});
export type ChatRequest = z.infer<typeof ChatRequest>;

/** Parses a request. Throws a WireRefusal in the API's words for the first field that is wrong. */
export function parseChatRequest(body: unknown): ChatRequest {
  const parsed = ChatRequest.safeParse(body, { reportInput: true });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw issue ? refusalOf(issue) : new WireRefusal(400, 'Invalid request.');
}
