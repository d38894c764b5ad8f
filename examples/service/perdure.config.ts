import { defineAgent, defineConfig, defineTool } from 'perdure';
import { z } from 'zod';

const findOrder = defineTool({
  name: 'find_order',
  description: 'Find an order by its number.',
  parameters: z.strictObject({ number: z.number().int().positive() }),
  effect: 'read',
  execute: ({ number }) => ({ number, item: 'a desk lamp', paidCents: 4_900 }),
});

/** Pays money back. `once`: it is never started twice, and a person approves each call. */
const refund = defineTool({
  name: 'refund',
  description: 'Refund an order. A person approves it.',
  parameters: z.strictObject({ number: z.number().int().positive(), cents: z.number().int().positive() }),
  effect: 'once',
  approval: 'always',
  execute: ({ number, cents }) => `refunded ${cents / 100} euros for order ${number}`,
});

export default defineConfig({
  // plays recorded responses without a key; select a real model with PERDURE_MODEL
  model: 'scripted/answers.yaml',
  tools: [findOrder, refund],
  agents: {
    support: defineAgent({
      description: 'Answers customers of a shop.',
      prompt: 'You help customers of a shop. Look at the order first. Refund only what was paid. Answer in one or two sentences.',
      maxTurns: 10,
    }),
  },
});
