import { describe, expect, it } from 'vitest';
import { textOf } from '../../../src/contracts/message-text.js';
import { until } from '../../support/use-workers.js';
import { overWire, WIRE_FORMATS } from '../support/over-wire.js';

describe.each(WIRE_FORMATS)('a cancel while an answer streams over $format', (wire) => {
  const { over, start } = overWire(wire);

  it('C1: the connection is closed within five seconds, nothing further is sent, and what had come is kept as partial', async () => {
    const { on, server } = await over(
      { script: { steps: [{ text: 'a long story that goes on', fault: { stall: true, afterEvent: 'text' } }] } },
      [],
      { policy: {} },
    );
    const run = await start(on);
    await until(() => server.requests.length === 1, 'the request');
    await run.handle.signal('cancel', { reason: 'enough' });
    const cancelledAt = Date.now();
    await until(() => server.requests[0]?.outcome === 'gone', 'the end of the connection');
    // five seconds, and as long again for a busy machine
    expect(Date.now() - cancelledAt).toBeLessThan(10_000);
    expect(await run.result()).toMatchObject({ reason: 'cancelled', turns: 1 });
    expect(server.requests).toHaveLength(1);
    const last = (await run.messages()).at(-1);
    expect(last).toMatchObject({ role: 'assistant', partial: true });
    expect('a long story that goes on').toContain(last ? textOf(last) : 'nothing');
  });

  it('C3: while it waits out a Retry-After of 60 s the run ends at once, and the model is not asked again', async () => {
    const { on, server } = await over(
      { script: { steps: [{ text: 'never read', fault: { status: 429, retryAfter: 60, times: 3 } }] } },
      [],
      { policy: {} },
    );
    const run = await start(on);
    await until(async () => {
      const pending = (await run.handle.describe()).raw.pendingActivities ?? [];
      return pending.some(({ attempt, lastFailure }) => attempt === 2 && lastFailure);
    }, 'the wait for the second attempt');
    const cancelledAt = Date.now();
    await run.handle.signal('cancel', {});
    expect(await run.result()).toMatchObject({ reason: 'cancelled' });
    expect(Date.now() - cancelledAt).toBeLessThan(5_000);
    expect(server.requests).toHaveLength(1);
  });
});
