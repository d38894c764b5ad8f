import { defineAgent, defineConfig } from 'perdure';
import { refund } from './tools/refund.ts';

export default defineConfig({
  model: 'openai/gpt-5.4-mini',
  tools: [refund],
  agents: {
    support: defineAgent({
      description: 'Answers complaints of customers.',
      prompt: 'You answer complaints of customers of a shop. Refund what arrived broken. Answer in one or two sentences.',
      tools: ['refund'],
      maxTurns: 6,
    }),
  },
});
