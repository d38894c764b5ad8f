import { expectEvent, testAgent } from 'perdure/testing';
import { expect, test } from 'vitest';

/** The first run on a machine downloads or builds the Temporal server, which takes up to a few minutes. */
const TIMEOUT_MS = 600_000;

test('the agent looks up the order before it answers', { timeout: TIMEOUT_MS }, async () => {
  // recorded answers replace the model; everything else is real: Temporal, the worker and the tools
  const { result, events, effects } = await testAgent({
    config: 'perdure.config.ts',
    agent: 'support',
    script: 'answers.yaml',
    task: 'Where is order 7?',
  });
  expect(result).toMatchObject({ reason: 'completed', toolCalls: 1 });
  expect(result.output).toContain('shipped on 3 May');
  expectEvent(events, { type: 'tool.call', tool: 'find_order' });
  expect(effects).toMatchObject([{ tool: 'find_order', args: { number: 7 } }]);
});
