import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import { expectEvent, findEvents, toolContext } from '../../../src/testing/index.js';

const refund = defineTool({
  name: 'refund',
  description: 'Refund an order.',
  parameters: z.strictObject({ number: z.number() }),
  execute: async ({ number }, context) => {
    const { idempotencyKey, log, output, signal, workspace } = context;
    signal.throwIfAborted();
    context.heartbeat({ number });
    log.info(`refunding ${number}`);
    await context.assertOwned();
    const collector = output.collect({ keep: 'tail' });
    for (let line = 1; line <= 5_000; line += 1) await collector.write(Buffer.from(`line ${line}\n`));
    return { idempotencyKey, workspace, text: await collector.finish() };
  },
});

describe('D2: toolContext', () => {
  it('a tool runs without a server, and the test sees its heartbeats, its log and its whole output', async () => {
    const context = toolContext({ workspace: '/work', idempotencyKey: 'k-1' });
    const result = await refund.execute({ number: 7 }, context);
    expect(result).toMatchObject({ idempotencyKey: 'k-1', workspace: '/work', text: expect.stringContaining('line 5000') });
    expect(result).not.toMatchObject({ text: expect.stringContaining('line 10\n') });
    expect(context.heartbeats).toEqual([{ number: 7 }]);
    expect(context.logs).toEqual([{ level: 'info', message: 'refunding 7' }]);
    expect(context.artifacts).toHaveLength(1);
    expect(context.artifacts[0]).toContain('line 10\n');
  });

  it('the test stops the tool, or takes the call away from it', async () => {
    const stopped = toolContext();
    stopped.abort(new Error('cancelled by the test'));
    await expect(refund.execute({ number: 7 }, stopped)).rejects.toThrow('cancelled by the test');
    await expect(refund.execute({ number: 7 }, toolContext({ owned: false }))).rejects.toThrow('no longer the current one');
  });

  it('the same call has the same key, and details that are not JSON fail the tool', () => {
    expect(toolContext({ runId: 'r' }).idempotencyKey).toBe(toolContext({ runId: 'r', attempt: 2 }).idempotencyKey);
    expect(() => toolContext().heartbeat({ total: 7n })).toThrow(TypeError);
  });
});

describe('D2: findEvents and expectEvent', () => {
  const at = 0;
  const events = [
    { seq: 1, at, type: 'turn.started', turn: 1 } as const,
    { seq: 2, at, type: 'tool.call', turn: 1, callId: 'c1', tool: 'refund', title: 'refund 7', effect: 'once' } as const,
  ];

  it('find by any fields, with the type of the event', () => {
    expect(findEvents(events, { type: 'tool.call', tool: 'refund' }).map(({ callId }) => callId)).toEqual(['c1']);
    expect(findEvents(events, { type: 'tool.call', tool: 'other' })).toEqual([]);
  });

  it('a missing event fails with the events that there are', () => {
    expect(() => expectEvent(events, { type: 'tool.call', tool: 'other' })).toThrow(
      /no event \{"type":"tool.call","tool":"other"\}; the 2 events are:\n.*turn.started.*\n.*"tool":"refund"/u,
    );
  });
});
