import { defineConfig, defineTool } from 'perdure';

/** A tool with an effect that a person must allow. */
const refund = defineTool({
  name: 'refund',
  description: 'Refund an order.',
  parameters: { type: 'object', properties: { order: { type: 'number' } }, required: ['order'] },
  effect: 'once',
  approval: 'always',
  execute: ({ order }) => `order ${order} is refunded`,
});

export default defineConfig({ model: 'scripted/answers.yaml', tools: [refund] });
