import { z } from 'zod';
import { WireRefusal } from '../../../format/format-server.js';
import { refusalOf } from '../../server/schema-refusal.js';

const penalty = z.number().min(-2).max(2).nullable().optional();

/** A completions request, with no field the API does not know. */
export const CompletionsRequest = z.strictObject({
  model: z.string().min(1),
  prompt: z.string().min(1),
  max_tokens: z.int().min(1).nullable().optional(),
  stop: z
    .union([z.string(), z.array(z.string().min(1)).max(4)])
    .nullable()
    .optional(),
  stream: z.boolean().nullable().optional(),
  stream_options: z
    .strictObject({ include_usage: z.boolean().optional(), include_obfuscation: z.boolean().optional() })
    .nullable()
    .optional(),
  temperature: z.number().min(0).max(2).nullable().optional(),
  top_p: z.number().min(0).max(1).nullable().optional(),
  n: z.literal(1).nullable().optional(),
  best_of: z.literal(1).nullable().optional(),
  echo: z.literal(false).nullable().optional(),
  logprobs: z.int().min(0).max(5).nullable().optional(),
  logit_bias: z.record(z.string(), z.number()).nullable().optional(),
  presence_penalty: penalty,
  frequency_penalty: penalty,
  seed: z.int().nullable().optional(),
  suffix: z.string().nullable().optional(),
  user: z.string().optional(),
});
export type CompletionsRequest = z.infer<typeof CompletionsRequest>;

/** Parses a request. Throws a WireRefusal in the API's words for the first field that is wrong. */
export function parseCompletionsRequest(body: unknown): CompletionsRequest {
  const parsed = CompletionsRequest.safeParse(body, { reportInput: true });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw issue ? refusalOf(issue) : new WireRefusal(400, 'Invalid request.');
  }
  if (parsed.data.stream_options && !parsed.data.stream) {
    const message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
    throw new WireRefusal(400, message, { param: 'stream_options' });
  }
  return parsed.data;
}
