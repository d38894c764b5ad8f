import { appendFile } from 'node:fs/promises';
import { defineAgent, defineConfig, defineTool } from 'perdure';
import { z } from 'zod';

/** Pays money back: a line in `refunds.jsonl`. `once`: it is never started twice. */
const refund = defineTool({
  name: 'refund',
  description: 'Refund an order.',
  parameters: z.strictObject({ number: z.number().int().positive(), cents: z.number().int().positive() }),
  effect: 'once',
  execute: async ({ number, cents }, { idempotencyKey }) => {
    await appendFile('refunds.jsonl', `${JSON.stringify({ number, cents, idempotencyKey })}\n`);
    return `refunded ${cents / 100} euros for order ${number}`;
  },
});

export default defineConfig({
  // plays recorded answers, so that no key is needed; replace it with a model such as 'openai/gpt-5.4-mini'
  model: 'scripted/answers.yaml',
  tools: [refund],
  // a killed worker is detected after 10 s; the default for a worker of your own is 30 s
  limits: { heartbeatTimeoutMs: 10_000 },
  agents: {
    complaints: defineAgent({
      description: 'Answers complaints of customers.',
      prompt: 'You answer complaints of customers of a shop. Refund what arrived broken. Write the letter, without a greeting.',
      tools: ['refund'],
      maxTurns: 6,
    }),
  },
});
