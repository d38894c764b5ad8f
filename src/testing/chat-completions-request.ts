import { z } from 'zod';
import { WireRefusal } from './wire-refusal.js';

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
    z.strictObject({ role: z.literal('tool'), content: Text, tool_call_id: z.string() }),
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
  throw issue ? refuseIssue(issue) : new WireRefusal(400, 'Invalid request.');
}

function refuseIssue(issue: z.core.$ZodIssue): WireRefusal {
  if (issue.code === 'unrecognized_keys') {
    const param = paramOf([...issue.path, issue.keys[0] ?? '']);
    return refuse(`Unknown parameter: '${param}'.`, 'unknown_parameter', param);
  }
  const param = paramOf(issue.path);
  if (issue.input === undefined) return refuse(`Missing required parameter: '${param}'.`, 'missing_required_parameter', param);
  if (issue.code === 'invalid_value') return refuseValue(issue.input, issue.values.map((value) => `'${String(value)}'`).join(', '), param);
  if (issue.code === 'invalid_union' && issue.message === ROLES) return refuseValue(issue.input, ROLES, param);
  if (issue.code === 'too_small' && issue.origin === 'array') {
    const expected = `Expected an array with minimum length ${issue.minimum}, but got an empty array instead.`;
    return refuse(`Invalid '${param}': empty array. ${expected}`, 'empty_array', param);
  }
  if (issue.code === 'too_big' && typeof issue.input === 'string') {
    const got = issue.input.length;
    const expected = `Expected a string with maximum length ${issue.maximum}, but got a string with length ${got} instead.`;
    return refuse(`Invalid '${param}': string too long. ${expected}`, 'string_above_max_length', param);
  }
  if (issue.code === 'invalid_format') {
    const expected = `Expected a string that matches the pattern '${FUNCTION_NAME.source}'.`;
    return refuse(`Invalid '${param}': string does not match pattern. ${expected}`, 'invalid_value', param);
  }
  const expected = issue.code === 'invalid_type' ? `a value of type ${issue.expected}` : 'another value';
  return refuse(`Invalid type for '${param}': expected ${expected}, but got ${kindOf(issue.input)} instead.`, 'invalid_type', param);
}

function refuseValue(input: unknown, supported: string, param: string): WireRefusal {
  // of a message without a known role the issue holds the whole message
  const value = input !== null && typeof input === 'object' ? Reflect.get(input, 'role') : input;
  if (value === undefined) return refuse(`Missing required parameter: '${param}'.`, 'missing_required_parameter', param);
  return refuse(`Invalid value: '${String(value)}'. Supported values are: ${supported}.`, 'invalid_value', param);
}

function refuse(message: string, code: string, param: string): WireRefusal {
  return new WireRefusal(400, message, { code, param });
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}

function paramOf(path: readonly PropertyKey[]): string {
  return path.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index > 0 ? '.' : ''}${String(key)}`)).join('');
}
