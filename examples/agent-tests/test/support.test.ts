import type { RunHandle } from 'perdure/client';
import { expectEvent, findEvents, testAgent } from 'perdure/testing';
import { expect, test } from 'vitest';
import config from '../perdure.config.ts';

/** The first run on a machine downloads or builds the Temporal server, which takes up to a few minutes. */
const TIMEOUT_MS = 600_000;

const task = 'Order 7 arrived broken.';

/** A model that wants to refund some money, and then repeats what the tool returned. */
function script(cents: number) {
  return { steps: [{ toolCalls: [{ name: 'refund', args: { order: 7, cents } }] }, { text: 'The bank: {{lastToolResult}}' }] };
}

test('the agent refunds a small amount by itself', { timeout: TIMEOUT_MS }, async () => {
  const { result, events, effects } = await testAgent({ config, agent: 'support', task, script: script(4_900) });
  expect(result).toMatchObject({ reason: 'completed', output: 'The bank: refunded 49 euros for order 7' });
  expect(effects).toMatchObject([{ tool: 'refund', args: { order: 7, cents: 4_900 } }]);
  expectEvent(events, { type: 'tool.result', outcome: 'ok' });
  expect(findEvents(events, { type: 'approval.asked' })).toEqual([]);
});

test('a person decides about a large amount, and after a denial no money moves', { timeout: TIMEOUT_MS }, async () => {
  const during = async (run: RunHandle) => {
    for await (const item of run.watch()) {
      if (item.type !== 'event' || item.event.type !== 'approval.asked') continue;
      await run.deny(item.event.callId, { by: 'ada', reason: 'too much for a lamp' });
      return;
    }
  };
  const { result, events, effects } = await testAgent({ config, agent: 'support', task, script: script(90_000), during });
  expectEvent(events, { type: 'approval.decided', tool: 'refund', decision: 'denied', by: 'ada' });
  expect(effects).toEqual([]);
  expect(result.output).toContain('too much for a lamp');
});
