import { describe, expect, it } from 'vitest';
import { textOf } from '../../../src/contracts/message-text.js';
import type { SessionState } from '../../../src/contracts/schemas/session.js';
import { say } from '../../support/agent-worker.js';
import { latch, until, useWorkers } from '../../support/use-workers.js';
import { useSessions } from './support/sessions.js';

describe('agentSession', () => {
  const { worker } = useWorkers();
  const { open } = useSessions();

  it('answers one message after the other, each with its own run, and passes the conversation on', async () => {
    const on = await worker({ model: ({ messages }) => say(`answer ${messages.length}`) });
    const session = await open(on);
    const first = await session.send({ id: 'm1', text: 'one' });
    expect(first).toEqual({ id: 'm1', accepted: true, position: 0, duplicate: false });
    expect(await session.wait('m1')).toMatchObject({ outcome: 'answered', runId: `${session.key}/1`, reason: 'completed' });
    await session.send({ id: 'm2', text: 'two' });
    expect(await session.wait('m2')).toMatchObject({ outcome: 'answered', runId: `${session.key}/2`, result: { output: 'answer 3' } });
    expect(on.requests.at(-1)?.messages.map(textOf)).toEqual(['one', 'answer 1', 'two']);
    expect(await session.query()).toEqual({
      key: session.key,
      queued: [],
      dropped: [],
      runs: [
        { runId: `${session.key}/1`, messageIds: ['m1'], reason: 'completed' },
        { runId: `${session.key}/2`, messageIds: ['m2'], reason: 'completed' },
      ],
    } satisfies SessionState);
  });

  it('A-33: the same id twice is one message, by update and by signal', async () => {
    const on = await worker({ model: () => say('once') });
    const session = await open(on);
    await session.send({ id: 'm1', text: 'one' });
    expect(await session.send({ id: 'm1', text: 'one' })).toMatchObject({ accepted: true, duplicate: true });
    await session.message({ id: 'm1', text: 'one' });
    await session.message({ id: 'm2', text: 'two' });
    await session.wait('m2');
    expect((await session.query()).runs.map(({ messageIds }) => messageIds)).toEqual([['m1'], ['m2']]);
  });

  it('C-04: a followup waits for the active run, and starts when it ends', async () => {
    const held = latch();
    const on = await worker({
      model: async (_request, call) => {
        if (call === 1) await held.opened;
        return say(`answer ${call}`);
      },
    });
    const session = await open(on);
    await session.send({ id: 'm1', text: 'one' });
    await until(() => on.requests.length === 1, 'the first run');
    expect(await session.send({ id: 'm2', text: 'two' })).toMatchObject({ position: 0 });
    expect(await session.query()).toMatchObject({ active: `${session.key}/1`, queued: [{ id: 'm2', position: 0, mode: 'followup' }] });
    held.open();
    expect(await session.wait('m2')).toMatchObject({ outcome: 'answered', runId: `${session.key}/2` });
  });
});
