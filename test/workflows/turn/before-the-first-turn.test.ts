import { describe, expect, it } from 'vitest';
import { failure } from '../../../src/activities/runtime/failures.js';
import { call, say } from '../../support/agent-worker.js';
import { latch, useWorkers } from '../../support/use-workers.js';

describe('a run before its first turn', () => {
  const { worker, start } = useWorkers();

  /** A run that is cancelled, with a message, while no host can prepare it. */
  async function cancelledUnprepared() {
    const asked = latch();
    const on = await worker({
      model: () => say('never'),
      beforePrepare: () => {
        asked.open();
        throw new Error('not on this host');
      },
    });
    const run = await start(on);
    await asked.opened;
    await run.handle.signal('steer', { id: 's', text: 'unread' });
    await run.handle.signal('cancel', {});
    return { on, run };
  }

  it('answers every query, takes messages, and says when to come back for the rest', async () => {
    const prepared = latch();
    const on = await worker({ model: () => say('ok'), beforePrepare: () => prepared.opened });
    const run = await start(on, { maxTurns: 7 });
    expect(await run.progress()).toMatchObject({ status: 'running', phase: 'preparing', turn: 0, maxTurns: 7 });
    expect(await run.handle.query('transcript')).toMatchObject({ length: 0, messages: [] });
    expect(await run.handle.query('events')).toMatchObject({ events: [] });
    expect(await run.handle.query('usage')).toMatchObject({ total: { inputTokens: 0 } });
    expect(await run.handle.query('result')).toBeNull();
    await expect(run.handle.executeUpdate('extend', { args: [{ turns: 1 }] })).rejects.toMatchObject({
      cause: { type: 'Input.Invalid', message: expect.stringContaining('NOT_PREPARED') },
    });
    expect(await run.handle.executeUpdate('submit', { args: [{ id: 's', text: 'look at b too' }] })).toMatchObject({ position: 0 });
    prepared.open();
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 1, unconsumed: [] });
    expect(on.requests[0]?.messages.map(({ id }) => id).at(-1)).toBe('s');
  });

  it('a cancel before the run is prepared ends it without a single request, and gives back what nobody read', async () => {
    const { on, run } = await cancelledUnprepared();
    const result = await run.result();
    expect(result).toMatchObject({ reason: 'cancelled', turns: 0, unconsumed: [{ id: 's', text: 'unread' }] });
    expect(await run.handle.query('result')).toEqual(result);
    expect(await run.progress()).toMatchObject({ status: 'cancelled', phase: 'closed' });
    expect(on.requests).toHaveLength(0);
  });

  it('what became of messages is told also by a run that was never prepared', async () => {
    const { run } = await cancelledUnprepared();
    expect(await run.result()).toMatchObject({ unconsumed: [{ id: 's' }], steers: [{ id: 's', state: 'unconsumed' }] });
  });

  it('a run that could not be prepared says error wherever it is asked', async () => {
    const on = await worker({
      model: () => say('never'),
      beforePrepare: () => {
        throw failure('Input.UnknownAgent', 'no agent named x');
      },
    });
    const run = await start(on);
    await expect(run.result()).rejects.toMatchObject({ cause: { type: 'Input.UnknownAgent' } });
    expect(await run.handle.query('result')).toMatchObject({ reason: 'error', error: { type: 'Input.UnknownAgent', turn: 0 } });
    expect(await run.progress()).toMatchObject({ status: 'error', phase: 'closed' });
  });

  it('queries without arguments, as the Web UI sends them, begin at the beginning', async () => {
    const on = await worker({ model: (_, n) => (n === 1 ? call(['nothing', {}]) : say('ok')) });
    const run = await start(on);
    await run.result();
    expect(await run.handle.query('transcript')).toMatchObject({ from: 0, length: 4 });
    expect(await run.handle.query('events')).toMatchObject({ first: 1 });
    expect(await run.handle.query('events', { after: 'x' } as never)).toMatchObject({ first: 1 });
  });
});
