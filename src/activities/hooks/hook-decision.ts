import { z } from 'zod';
import { JsonValue, Message } from '../../contracts/schemas/message.js';
import type { HookDecision, HookPoint } from '../../define/define-hook.js';

const Allow = z.object({ action: z.literal('allow') });

/** A refusal without a reason is valid too. */
const Refusal = z.object({ action: z.enum(['block', 'abort']), reason: z.string().min(1).catch('no reason given') });

const Output = modify({ output: z.string() });

const Request = z.strictObject({
  prompt: z.string().optional(),
  messages: z.array(Message).optional(),
  tools: z.array(z.object({ name: z.string().min(1), description: z.string(), schema: z.record(z.string(), JsonValue) })).optional(),
});

/** The valid decisions at each hook point. */
const ANSWERS = {
  'before-run': z.union([Allow, Refusal]),
  'before-model': z.union([Allow, Refusal, modify({ request: Request })]),
  'after-model': z.union([Allow, Refusal, Output]),
  'before-tool': z.union([Allow, Refusal, modify({ args: JsonValue })]),
  'after-tool': z.union([Allow, Refusal, Output]),
  'after-run': z.union([Allow, Refusal, Output]),
  error: z.union([Allow, Refusal, Output]),
} as const satisfies Record<HookPoint, z.ZodType>;

/** Parses the decision of a hook. Throws a TypeError that lists the valid decisions at this point. */
export function readHookAnswer(on: HookPoint, answer: unknown): HookDecision {
  const parsed = ANSWERS[on].safeParse(answer);
  // HookDecision is the union over all hook points
  if (parsed.success) return parsed.data as HookDecision;
  throw new TypeError(`${on}: ${MEANT[on]}`);
}

const REFUSALS = '{ action: "allow" }, { action: "block", reason } or { action: "abort", reason }';
const OUTPUT = `answer ${REFUSALS}, or { action: "modify", output } with a text`;

const MEANT: Readonly<Record<HookPoint, string>> = {
  'before-run': `answer ${REFUSALS}`,
  'before-model': `answer ${REFUSALS}, or { action: "modify", request } with prompt, messages or tools`,
  'after-model': OUTPUT,
  'before-tool': `answer ${REFUSALS}, or { action: "modify", args } with JSON`,
  'after-tool': OUTPUT,
  'after-run': OUTPUT,
  error: OUTPUT,
};

function modify<Shape extends z.ZodRawShape>(fields: Shape) {
  return z.strictObject({ action: z.literal('modify'), ...fields });
}
