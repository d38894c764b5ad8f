import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ThinkingBudget } from '../../../src/activities/call-model/thinking-budget.js';
import type { StreamDelta } from '../../../src/providers/contract/provider.js';
import { type RawServer, startRawServer } from '../../providers/support/raw-server.js';
import { modelRequest, WIRES } from '../../providers/support/wire.js';

const thinking = (tokens: number): StreamDelta => ({ type: 'thinking', text: 'hmm '.repeat(tokens) });

describe('ThinkingBudget', () => {
  it.each<[string, readonly StreamDelta[], boolean]>([
    ['thinking up to it does not spend it', [thinking(60), thinking(40)], false],
    ['thinking beyond it does', [thinking(60), thinking(41)], true],
    ['blank text is no answer yet', [thinking(60), { type: 'text', text: '\n\n' }, thinking(41)], true],
    ['thinking on after a text does not', [thinking(60), { type: 'text', text: 'So' }, thinking(900)], false],
    ['thinking on after a call does not', [{ type: 'tool_call', name: 'read' }, thinking(900)], false],
    ['a long answer does not', [{ type: 'text', text: 'word '.repeat(900) }], false],
  ])('B-18: %s', (_, deltas, spent) => {
    const budget = new ThinkingBudget(100);
    for (const delta of deltas) budget.add(delta);
    expect(budget.spent.aborted).toBe(spent);
  });

  it('B-18: without a bound nothing is ever spent', () => {
    const budget = new ThinkingBudget(undefined);
    budget.add(thinking(100_000));
    expect(budget.spent.aborted).toBe(false);
  });
});

describe.each(WIRES)('B-18: a model that thinks without end over $name', (wire) => {
  let server: RawServer;
  beforeAll(async () => {
    server = await startRawServer();
  });
  afterAll(() => server.close());

  it('is left as soon as its budget is spent', async () => {
    const events = wire.events({ thinking: 'hmm hmm ' });
    const first = events.findIndex((event) => event.includes('hmm'));
    const thought = events[first] ?? '';
    const closed = new Promise<void>((done) => {
      server.answerWith(async (response) => {
        response.once('close', done);
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(events.slice(0, first).join(''));
        while (!response.destroyed) await new Promise((sent) => response.write(thought, sent));
      });
    });
    const budget = new ThinkingBudget(1_000);
    let chars = 0;
    const onDelta = (delta: StreamDelta): void => {
      chars += delta.type === 'thinking' ? delta.text.length : 0;
      budget.add(delta);
    };
    const call = wire.provider(server.url).call(modelRequest({ signal: budget.spent, onDelta }));
    await expect(call).rejects.toHaveProperty('name', 'AbortError');
    expect(budget.spent.aborted).toBe(true);
    await closed;
    expect(chars).toBeGreaterThan(4_000);
  });
});
