import { defineConfig } from 'perdure';
import { findOrder } from './tools/find-order.ts';

export default defineConfig({
  // plays recorded answers, so that no key is needed; replace it with a model such as 'openai/gpt-5.4-mini'
  model: 'scripted/answers.yaml',
  tools: [findOrder],
});
