import { describe, expect, it } from 'vitest';
import { textOf } from '../../../src/contracts/message-text.js';
import type { Message } from '../../../src/contracts/schemas/message.js';
import type { SessionState } from '../../../src/contracts/schemas/session.js';
import type { Config } from '../../../src/define/define-config.js';
import { say } from '../../support/agent-worker.js';
import { latch, until, untilAborted, useWorkers } from '../../support/use-workers.js';
import { useSessions } from './support/sessions.js';

const NONE: Message = { id: '', role: 'user', parts: [] };
const FAKE: Config = { model: 'fake/model', providers: { fake: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:9' } } };

describe('agentSession', { timeout: 60_000 }, () => {
  const { worker } = useWorkers();
  const { open } = useSessions();

  /** A session whose first run has message `m1`, and waits for `held` in its model call. */
  async function heldSession() {
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
    return { held, on, session };
  }

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
    const { held, session } = await heldSession();
    expect(await session.send({ id: 'm2', text: 'two' })).toMatchObject({ position: 0 });
    expect(await session.query()).toMatchObject({ active: `${session.key}/1`, queued: [{ id: 'm2', position: 0, mode: 'followup' }] });
    held.open();
    expect(await session.wait('m2')).toMatchObject({ outcome: 'answered', runId: `${session.key}/2` });
  });

  it('C-04: a steer reaches the active run; one that the run did not read gets a run of its own', async () => {
    const { held, on, session } = await heldSession();
    await session.send({ id: 's1', text: 'more', queue: 'steer' });
    await until(async () => (await session.events({ types: ['message.steered'] })).events.length === 1, 'the steer');
    expect(await session.query()).toMatchObject({ queued: [], runs: [{ runId: `${session.key}/1`, messageIds: ['m1', 's1'] }] });
    held.open();
    expect(await session.wait('s1')).toMatchObject({ outcome: 'answered', runId: `${session.key}/1` });
    expect(on.requests.at(-1)?.messages.map(textOf)).toEqual(['one', 'answer 1', 'more']);

    const alone = latch();
    const chat = await worker({
      model: async () => {
        await alone.opened;
        return say('done');
      },
    });
    const turns = await open(chat, { defaults: { mode: 'chat' } });
    await turns.send({ id: 'm1', text: 'one' });
    await until(() => chat.requests.length === 1, 'the run of one turn');
    await turns.send({ id: 's1', text: 'late', queue: 'steer' });
    await until(async () => (await turns.events({ types: ['message.steered'] })).events.length === 1, 'the late steer');
    alone.open();
    expect(await turns.wait('s1')).toMatchObject({ outcome: 'answered', runId: `${turns.key}/2` });
    expect((await turns.query()).runs.map(({ messageIds }) => messageIds)).toEqual([['m1'], ['s1']]);
  });

  it('C-04: an interrupt cancels the active run and is answered next', async () => {
    const on = await worker({
      model: async ({ signal, messages }) => (textOf(messages.at(-1) ?? NONE) === 'one' ? await untilAborted(signal) : say('ok')),
    });
    const session = await open(on);
    await session.send({ id: 'm1', text: 'one' });
    await until(() => on.requests.length === 1, 'the first run');
    await session.send({ id: 'm2', text: 'two' });
    await session.send({ id: 'now', text: 'stop', queue: 'interrupt' });
    expect(await session.wait('m2')).toMatchObject({ outcome: 'answered' });
    expect((await session.query()).runs).toEqual([
      { runId: `${session.key}/1`, messageIds: ['m1'], reason: 'cancelled' },
      { runId: `${session.key}/2`, messageIds: ['now'], reason: 'completed' },
      { runId: `${session.key}/3`, messageIds: ['m2'], reason: 'completed' },
    ]);
  });

  it('C-04: messages to collect that reach an idle session are answered by one run, after the debounce', async () => {
    const on = await worker({ model: () => say('ok') });
    // both updates must reach the session within the debounce
    const session = await open(on, { queue: { mode: 'collect', debounceMs: 3_000 } });
    await session.send({ id: 'first', text: 'one', queue: 'followup' });
    await session.wait();
    await session.send({ id: 'c1', text: 'two' });
    await session.send({ id: 'c2', text: 'three' });
    expect(await session.wait('c2')).toMatchObject({ outcome: 'answered', runId: `${session.key}/2` });
    expect((await session.query()).runs.map(({ messageIds }) => messageIds)).toEqual([['first'], ['c1', 'c2']]);
    expect(on.requests.at(-1)?.messages.map(textOf).at(-1)).toBe('two\n\nthree');
  });

  it('C-06: the levels of a queue: message, session, channel, config', async () => {
    const config: Config = {
      ...FAKE,
      sessions: { mode: 'collect', cap: 3, debounceMs: 60_000, channels: { team: { cap: 1 } } },
    };
    const on = await worker({ model: () => say('ok'), config });
    const session = await open(on, { channel: 'team', queue: { drop: 'old' } });
    await session.send({ id: 'a', text: 'one' });
    await until(async () => (await session.query()).runs.length > 0 || (await session.query()).queued[0]?.mode === 'collect', 'the config');
    // a cap of one message is full with it, so that its collect does not wait for more
    expect(await session.wait('a')).toMatchObject({ outcome: 'answered' });
  });

  it('C-07: a message is withdrawn while it waits, and not once a run works on it', async () => {
    const held = latch();
    const on = await worker({
      model: () => held.opened.then(() => say('ok')),
    });
    const session = await open(on);
    await session.send({ id: 'm1', text: 'one' });
    await until(() => on.requests.length === 1, 'the first run');
    await session.send({ id: 'm2', text: 'two' });
    expect(await session.unsend('m2')).toEqual({ id: 'm2', unsent: true });
    await expect(session.unsend('m1')).rejects.toMatchObject({ code: 'MESSAGE_IN_WORK', exitCode: 4 });
    await expect(session.unsend('nobody')).rejects.toMatchObject({ code: 'NO_SUCH_MESSAGE', exitCode: 3 });
    held.open();
    expect(await session.wait('m2')).toEqual({ outcome: 'dropped', reason: 'unsent' });
    expect(await session.wait()).toEqual({ outcome: 'idle' });
    expect((await session.query()).runs).toHaveLength(1);
  });

  it('C-07: cancelling a session drops what waits first, then cancels the active run', async () => {
    const on = await worker({ model: ({ signal }) => untilAborted(signal) });
    const session = await open(on);
    await session.send({ id: 'm1', text: 'one' });
    await until(() => on.requests.length === 1, 'the first run');
    await session.send({ id: 'm2', text: 'two' });
    const handle = on.client.workflow.getHandle(`session/${session.key}`);
    await handle.cancel();
    await expect(handle.result()).rejects.toThrow('cancelled');
    expect(await session.query()).toMatchObject({
      queued: [],
      runs: [{ messageIds: ['m1'], reason: 'cancelled' }],
      dropped: [{ id: 'm2', reason: 'the session was cancelled' }],
    });
    // the next message starts a new one, whose runs have numbers of their own
    const again = await worker({ model: () => say('new'), taskQueue: on.taskQueue });
    expect(await session.send({ id: 'm3', text: 'three' })).toMatchObject({ accepted: true });
    await on.shutdown();
    expect(await session.wait('m3')).toMatchObject({ outcome: 'answered', reason: 'completed' });
    expect((await session.query()).runs[0]?.runId).not.toBe(`${session.key}/1`);
    expect(again.requests.length).toBeGreaterThanOrEqual(0);
  });

  it('C-01: a wait that times out is an outcome, and the run goes on', async () => {
    const held = latch();
    const on = await worker({
      model: () => held.opened.then(() => say('ok')),
    });
    const session = await open(on);
    await session.send({ id: 'm1', text: 'one' });
    expect(await session.wait('m1', { timeoutMs: 200 })).toEqual({ outcome: 'timeout' });
    held.open();
    expect(await session.wait('m1')).toMatchObject({ outcome: 'answered', result: { output: 'ok' } });
  });

  it('continues as new between runs and in one, and loses neither the run nor the conversation', async () => {
    const held = latch();
    const on = await worker({
      model: async ({ messages }, call) => {
        if (call === 4) await held.opened;
        return say(`answer ${messages.length}`);
      },
    });
    const session = await open(on, { bounds: { continueAsNewEvents: 20 } });
    for (const id of ['m1', 'm2', 'm3']) {
      await session.send({ id, text: id });
      await session.wait(id);
    }
    await session.send({ id: 'm4', text: 'm4' });
    await until(() => on.requests.length === 4, 'the fourth run');
    for (let n = 0; n < 6; n += 1) await session.send({ id: `w${n}`, text: 'waits' });
    await until(async () => (await session.events({ types: ['session.continued'] })).events.length >= 2, 'fresh histories');
    expect(await session.query()).toMatchObject({ active: `${session.key}/4`, queued: [{ id: 'w0' }, {}, {}, {}, {}, { id: 'w5' }] });
    held.open();
    expect(await session.wait('w5')).toMatchObject({ outcome: 'answered', result: { output: 'answer 19' } });
    expect((await session.query()).runs.map(({ messageIds }) => messageIds)).toEqual(
      ['m1', 'm2', 'm3', 'm4', 'w0', 'w1', 'w2', 'w3', 'w4', 'w5'].map((id) => [id]),
    );
    expect(await session.send({ id: 'm1', text: 'm1' })).toMatchObject({ duplicate: true });
  });

  it('an idle session has no timer and adds nothing to its history', async () => {
    const on = await worker({ model: () => say('ok') });
    const session = await open(on);
    await session.send({ id: 'm1', text: 'one' });
    await session.wait('m1');
    const handle = on.client.workflow.getHandle(`session/${session.key}`);
    const { events } = await handle.fetchHistory();
    expect((events ?? []).filter(({ timerStartedEventAttributes }) => timerStartedEventAttributes)).toEqual([]);
    expect((await handle.describe()).raw.pendingActivities ?? []).toEqual([]);
  });

  it('a run that was terminated is reported as lost with its messages, and the next one is answered', async () => {
    const on = await worker({
      model: ({ messages, signal }) => (messages.length === 1 && textOf(messages[0] ?? NONE) === 'one' ? untilAborted(signal) : say('ok')),
    });
    const session = await open(on);
    await session.send({ id: 'm1', text: 'one' });
    await until(() => on.requests.length === 1, 'the first run');
    await session.send({ id: 'm2', text: 'two' });
    await on.client.workflow.getHandle(`${session.key}/1`).terminate();
    expect(await session.wait('m2')).toMatchObject({ outcome: 'answered', runId: `${session.key}/2` });
    expect((await session.query()).runs[0]).toEqual({ runId: `${session.key}/1`, messageIds: ['m1'], reason: 'lost' });
  });
});
