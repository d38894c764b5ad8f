import { z } from 'zod';
import { WireRefusal } from '../../format/format-server.js';

const TOOL_ID = /^[a-zA-Z0-9_-]+$/;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;

const cache_control = z
  .strictObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() })
  .nullable()
  .optional();

const TextBlock = z.strictObject({ type: z.literal('text'), text: z.string(), cache_control, citations: z.null().optional() });
const Source = z.looseObject({ type: z.enum(['base64', 'url', 'file', 'text']) });
const ImageBlock = z.strictObject({ type: z.literal('image'), source: Source, cache_control });
const DocumentBlock = z.strictObject({ type: z.literal('document'), source: Source, title: z.string().optional(), cache_control });

/** A block of a message's content. */
export const AnthropicBlock = z.discriminatedUnion('type', [
  TextBlock,
  ImageBlock,
  DocumentBlock,
  z.strictObject({
    type: z.literal('tool_use'),
    id: z.string().regex(TOOL_ID),
    name: z.string().regex(TOOL_NAME),
    input: z.record(z.string(), z.json()),
    cache_control,
  }),
  z.strictObject({
    type: z.literal('tool_result'),
    tool_use_id: z.string().regex(TOOL_ID),
    content: z.union([z.string(), z.array(z.discriminatedUnion('type', [TextBlock, ImageBlock, DocumentBlock]))]).optional(),
    is_error: z.boolean().optional(),
    cache_control,
  }),
  z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
  z.strictObject({ type: z.literal('redacted_thinking'), data: z.string() }),
]);
export type AnthropicBlock = z.infer<typeof AnthropicBlock>;

/** A message of a messages request. */
export const AnthropicMessage = z.strictObject({
  role: z.enum(['user', 'assistant']),
  content: z.union([z.string(), z.array(AnthropicBlock)]),
});
export type AnthropicMessage = z.infer<typeof AnthropicMessage>;

const Tool = z.strictObject({
  type: z.literal('custom').nullable().optional(),
  name: z.string().regex(TOOL_NAME),
  description: z.string().optional(),
  input_schema: z.looseObject({ type: z.literal('object') }),
  strict: z.boolean().optional(),
  eager_input_streaming: z.boolean().optional(),
  cache_control,
});

const disable_parallel_tool_use = z.boolean().optional();

/** A messages request, with no field the API does not know. */
export const AnthropicRequest = z.strictObject({
  model: z.string().min(1),
  max_tokens: z.int().min(1),
  messages: z.array(AnthropicMessage),
  system: z.union([z.string(), z.array(TextBlock)]).optional(),
  tools: z.array(Tool).optional(),
  tool_choice: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('auto'), disable_parallel_tool_use }),
      z.strictObject({ type: z.literal('any'), disable_parallel_tool_use }),
      z.strictObject({ type: z.literal('tool'), name: z.string(), disable_parallel_tool_use }),
      z.strictObject({ type: z.literal('none') }),
    ])
    .optional(),
  stream: z.boolean().optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_k: z.int().min(0).optional(),
  top_p: z.number().min(0).max(1).optional(),
  stop_sequences: z.array(z.string()).optional(),
  metadata: z.strictObject({ user_id: z.string().nullable().optional() }).optional(),
  thinking: z
    .discriminatedUnion('type', [
      z.looseObject({ type: z.literal('enabled'), budget_tokens: z.int().min(1_024) }),
      z.looseObject({ type: z.literal('adaptive') }),
      z.looseObject({ type: z.literal('disabled') }),
    ])
    .optional(),
  output_config: z.looseObject({}).optional(),
  service_tier: z.enum(['auto', 'standard_only']).optional(),
  cache_control,
});
export type AnthropicRequest = z.infer<typeof AnthropicRequest>;

/** Parses a request. Throws a WireRefusal in the API's words for the first field that is wrong. */
export function parseAnthropicRequest(body: unknown): AnthropicRequest {
  const parsed = AnthropicRequest.safeParse(body, { reportInput: true });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new WireRefusal(400, issue ? describeIssue(issue, []) : 'Invalid request.');
}

function describeIssue(issue: z.core.$ZodIssue, above: readonly PropertyKey[]): string {
  const path = [...above, ...issue.path];
  if (issue.code === 'unrecognized_keys') return `${[...path, issue.keys[0] ?? ''].join('.')}: Extra inputs are not permitted`;
  if (issue.code === 'invalid_union') {
    const [inner] = closestBranch(issue);
    if (inner) return describeIssue(inner, path);
    if (issue.discriminator) return `${path.join('.')}: Input tag does not match any of the expected tags`;
  }
  return `${path.join('.')}: ${complaint(issue)}`;
}

/** Of a union of text and blocks, the branch of the kind that was sent. */
function closestBranch(issue: z.core.$ZodIssueInvalidUnion): readonly z.core.$ZodIssue[] {
  return issue.errors.find((branch) => branch.some((inner) => inner.path.length > 0)) ?? [];
}

function complaint(issue: z.core.$ZodIssue): string {
  if (issue.input === undefined) return 'Field required';
  if (issue.code === 'invalid_value') return `Input should be ${issue.values.map((value) => `'${String(value)}'`).join(' or ')}`;
  if (issue.code === 'invalid_format') return `String should match pattern '${issue.pattern?.replace(/^\/|\/$/gu, '') ?? ''}'`;
  if (issue.code === 'too_small') return `Input should be greater than or equal to ${issue.minimum}`;
  if (issue.code === 'invalid_type') return `Input should be a valid ${issue.expected}`;
  return 'Input should be valid';
}
