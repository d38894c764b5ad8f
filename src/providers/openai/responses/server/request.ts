import { z } from 'zod';
import { WireRefusal } from '../../../format/format-server.js';
import { refusalOf } from '../../server/schema-refusal.js';

const FUNCTION_NAME = /^[a-zA-Z0-9_-]+$/;

const ROLES = "'assistant', 'system', 'developer', and 'user'";
const ITEM_TYPES = "'message', 'reasoning', 'function_call', 'function_call_output', and 'item_reference'";
const INPUT_TYPES = "'input_text', 'input_image', and 'input_file'";
const OUTPUT_TYPES = "'output_text' and 'refusal'";

/** A discriminated union names the values it takes when it is given another one. */
function naming(values: string) {
  return { error: (issue: { readonly code?: string | undefined }) => (issue.code === 'invalid_union' ? values : undefined) };
}

const InputBlock = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('input_text'), text: z.string() }),
    z.strictObject({
      type: z.literal('input_image'),
      image_url: z.string().nullable().optional(),
      file_id: z.string().nullable().optional(),
      detail: z.enum(['low', 'high', 'auto', 'original']).nullable().optional(),
    }),
    z.strictObject({
      type: z.literal('input_file'),
      file_data: z.string().nullable().optional(),
      file_id: z.string().nullable().optional(),
      file_url: z.string().nullable().optional(),
      filename: z.string().nullable().optional(),
      detail: z.enum(['auto', 'low', 'high']).optional(),
    }),
  ],
  naming(INPUT_TYPES),
);

const OutputBlock = z.discriminatedUnion(
  'type',
  [
    z.strictObject({
      type: z.literal('output_text'),
      text: z.string(),
      annotations: z.array(z.json()).optional(),
      logprobs: z.array(z.json()).optional(),
    }),
    z.strictObject({ type: z.literal('refusal'), refusal: z.string() }),
  ],
  naming(OUTPUT_TYPES),
);

const id = z.string().max(64);
const status = z.enum(['in_progress', 'completed', 'incomplete']).nullable().optional();
const phase = z.enum(['commentary', 'final_answer']).nullable().optional();
const call_id = z.string().min(1).max(64);

const fromOutside = {
  type: z.literal('message'),
  content: z.union([z.string(), z.array(InputBlock)]),
  id: id.optional(),
  status,
};

const MessageItem = z.discriminatedUnion(
  'role',
  [
    z.strictObject({ ...fromOutside, role: z.literal('user') }),
    z.strictObject({ ...fromOutside, role: z.literal('system') }),
    z.strictObject({ ...fromOutside, role: z.literal('developer') }),
    z.strictObject({
      type: z.literal('message'),
      role: z.literal('assistant'),
      content: z.union([z.string(), z.array(OutputBlock)]),
      id: id.optional(),
      status,
      phase,
    }),
  ],
  naming(ROLES),
);

const Item = z.discriminatedUnion(
  'type',
  [
    MessageItem,
    z.strictObject({
      type: z.literal('reasoning'),
      id,
      summary: z.array(z.strictObject({ type: z.literal('summary_text'), text: z.string() })),
      content: z.array(z.strictObject({ type: z.literal('reasoning_text'), text: z.string() })).optional(),
      encrypted_content: z.string().nullable().optional(),
      status,
    }),
    z.strictObject({
      type: z.literal('function_call'),
      call_id,
      name: z.string().regex(FUNCTION_NAME).max(64),
      arguments: z.string(),
      id: id.optional(),
      status,
    }),
    z.strictObject({
      type: z.literal('function_call_output'),
      call_id,
      output: z.union([z.string(), z.array(InputBlock)]),
      id: id.nullable().optional(),
      status,
    }),
    z.strictObject({ type: z.literal('item_reference'), id }),
  ],
  naming(ITEM_TYPES),
);

/** An item of a request's input, its type filled in. */
export type ResponsesItem = z.infer<typeof Item>;

/** Of a message the type may be left out. */
const InputItem = z.preprocess((item) => {
  const isPlain = item !== null && typeof item === 'object' && !('type' in item) && 'role' in item;
  return isPlain ? { type: 'message', ...item } : item;
}, Item);

const Tool = z.strictObject({
  type: z.literal('function'),
  name: z.string().regex(FUNCTION_NAME).max(64),
  description: z.string().nullable().optional(),
  parameters: z.record(z.string(), z.json()).nullable().optional(),
  strict: z.boolean().nullable().optional(),
});

/** A request of the Responses API, with no field the API does not know. */
export const ResponsesRequest = z.strictObject({
  model: z.string().min(1),
  input: z.union([z.string(), z.array(InputItem)]).optional(),
  instructions: z.string().nullable().optional(),
  tools: z.array(Tool).nullable().optional(),
  tool_choice: z
    .union([z.enum(['none', 'auto', 'required']), z.strictObject({ type: z.literal('function'), name: z.string() })])
    .nullable()
    .optional(),
  parallel_tool_calls: z.boolean().nullable().optional(),
  stream: z.boolean().nullable().optional(),
  stream_options: z.strictObject({ include_obfuscation: z.boolean().optional() }).nullable().optional(),
  max_output_tokens: z.int().min(16).nullable().optional(),
  max_tool_calls: z.int().min(1).nullable().optional(),
  store: z.boolean().nullable().optional(),
  include: z
    .array(
      z.enum([
        'reasoning.encrypted_content',
        'message.output_text.logprobs',
        'message.input_image.image_url',
        'file_search_call.results',
        'web_search_call.results',
        'web_search_call.action.sources',
        'computer_call_output.output.image_url',
        'code_interpreter_call.outputs',
      ]),
    )
    .nullable()
    .optional(),
  reasoning: z
    .strictObject({
      effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullable().optional(),
      summary: z.enum(['auto', 'concise', 'detailed']).nullable().optional(),
    })
    .nullable()
    .optional(),
  previous_response_id: z.string().nullable().optional(),
  background: z.literal(false).nullable().optional(),
  temperature: z.number().min(0).max(2).nullable().optional(),
  top_p: z.number().min(0).max(1).nullable().optional(),
  text: z.looseObject({}).optional(),
  truncation: z.enum(['auto', 'disabled']).nullable().optional(),
  metadata: z.record(z.string(), z.string()).nullable().optional(),
  prompt_cache_key: z.string().max(64).nullable().optional(),
  prompt_cache_retention: z.enum(['in_memory', '24h']).nullable().optional(),
  safety_identifier: z.string().max(64).nullable().optional(),
  service_tier: z.string().nullable().optional(),
  user: z.string().optional(),
});
export type ResponsesRequest = z.infer<typeof ResponsesRequest>;

/** Parses a request. Throws a WireRefusal in the API's words for the first field that is wrong. */
export function parseResponsesRequest(body: unknown): ResponsesRequest {
  const parsed = ResponsesRequest.safeParse(body, { reportInput: true });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw issue ? refusalOf(issue) : new WireRefusal(400, 'Invalid request.');
}

/** The items of a request; a text alone is what a user says. */
export function itemsOf({ input = [] }: Pick<ResponsesRequest, 'input'>): readonly ResponsesItem[] {
  return typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : input;
}
