import { randomUUID } from 'node:crypto';
import { describe, it } from 'vitest';
import { AgentClient } from '../../../src/client/agent-client.js';
import type { SessionHandle } from '../../../src/client/session-handle.js';
import type { SessionOptions } from '../../../src/client/sessions/session-input.js';
import { sessionId } from '../../../src/contracts/handlers.js';
import { textOf } from '../../../src/contracts/message-text.js';
import type { Config } from '../../../src/define/define-config.js';
import { type AgentWorker, say } from '../../support/agent-worker.js';
import { latch, until, untilAborted, useWorkers } from '../../support/use-workers.js';
import { historySaver } from './save-history.js';

const { write } = historySaver('0.6');

const config: Config = {
  model: 'fake/model',
  providers: { fake: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:9' } },
  agents: { child: { description: 'A process.', prompt: 'x', executor: { kind: 'subprocess', command: 'true' } } },
};

describe('record sessions', () => {
  const { worker } = useWorkers();

  it('a session with messages of each mode, an idle wait, and its cancellation', async () => {
    const held = latch();
    const on = await worker({
      identity: 'recorder',
      model: async ({ messages, signal }, call) => {
        if (call === 1) await held.opened;
        return textOf(messages.at(-1) ?? messages[0] ?? NONE) === 'long' ? await untilAborted(signal) : say('ok');
      },
    });
    const session = await open(on, { queue: { debounceMs: 100 } });
    await session.send({ id: 'm1', text: 'one' });
    await until(() => on.requests.length === 1, 'the first run');
    await session.send({ id: 's1', text: 'more', queue: 'steer' });
    await session.message({ id: 'm2', text: 'two' });
    await session.send({ id: 'u1', text: 'gone' });
    await session.unsend('u1');
    held.open();
    await session.wait('m2');
    await session.wait();
    await session.send({ id: 'c1', text: 'a', queue: 'collect' });
    await session.send({ id: 'c2', text: 'b', queue: 'collect' });
    await session.wait('c2');
    await session.send({ id: 'l1', text: 'long' });
    await until(() => on.requests.at(-1)?.messages.map(textOf).at(-1) === 'long', 'the long run');
    await session.send({ id: 'i1', text: 'now', queue: 'interrupt' });
    await session.wait('i1');
    await session.send({ id: 'l2', text: 'long' });
    await until(async () => (await session.query()).active !== undefined, 'the last run');
    await session.send({ id: 'd1', text: 'dropped' });
    const handle = on.client.workflow.getHandle(sessionId(session.key));
    await handle.cancel();
    await handle.result().catch(() => undefined);
    await save('session', on, session);
    await write('session-run-2', await on.client.workflow.getHandle(`${session.key}/2`).fetchHistory());
  });

  it('a session that continues as new while a run is active', async () => {
    const held = latch();
    const on = await worker({
      identity: 'recorder',
      model: async () => {
        await held.opened;
        return say('ok');
      },
    });
    const session = await open(on, { bounds: { continueAsNewEvents: 20 } });
    await session.send({ id: 'm1', text: 'one' });
    await until(() => on.requests.length === 1, 'the first run');
    const handle = on.client.workflow.getHandle(sessionId(session.key));
    const first = (await handle.describe()).runId;
    for (let n = 0; (await handle.describe()).runId === first; n += 1) await session.send({ id: `w${n}`, text: 'waits' });
    await write('session-continued-1', await on.client.workflow.getHandle(sessionId(session.key), first).fetchHistory());
    const second = (await handle.describe()).runId;
    held.open();
    await session.wait();
    await write('session-continued-2', await on.client.workflow.getHandle(sessionId(session.key), second).fetchHistory());
    await handle.terminate();
  });

  it('a session whose messages and runs are signed', async () => {
    const on = await worker({
      identity: 'recorder',
      config,
      model: () => say('ok'),
      authenticate: ({ input }) => Promise.resolve('id' in input && input.id === 'u1' ? 'UNSIGNED: not signed' : undefined),
      sign: () => Promise.resolve('v1.1.00'),
    });
    const session = await open(on, { agent: 'child' });
    await session.send({ id: 'm1', text: 'one' });
    await session.wait('m1');
    await session.send({ id: 'u1', text: 'two' });
    await session.wait('u1');
    await save('session-signed', on, session);
    await on.client.workflow.getHandle(sessionId(session.key)).terminate();
  });

  it('a run that copies the conversation, and one that summarises it', async () => {
    const on = await worker({ identity: 'recorder', model: () => say('ok') });
    const session = await open(on);
    for (let n = 1; n <= 21; n += 1) {
      await session.send({ id: `m${n}`, text: `m${n}` });
      await session.wait(`m${n}`);
    }
    await write('session-run-copied', await on.client.workflow.getHandle(`${session.key}/21`).fetchHistory());
    await on.client.workflow.getHandle(sessionId(session.key)).terminate();
    const small = await worker({
      identity: 'recorder',
      model: () => say(`a ${'x'.repeat(6_000)}`),
      policy: { compaction: { strategies: ['summary'] } },
      contextWindow: 10_000,
    });
    const long = await open(small);
    for (let n = 1; n <= 6; n += 1) {
      await long.send({ id: `m${n}`, text: `m${n}` });
      await long.wait(`m${n}`);
    }
    const summarised = [];
    for (let n = 1; n <= 6; n += 1) {
      const history = await small.client.workflow.getHandle(`${long.key}/${n}`).fetchHistory();
      if (history.events?.some(({ activityTaskScheduledEventAttributes: activity }) => activity?.activityType?.name === 'compact'))
        summarised.push(history);
    }
    const [history] = summarised;
    if (!history) throw new Error('no run summarised the conversation');
    await write('session-run-summarised', history);
    await small.client.workflow.getHandle(sessionId(long.key)).terminate();
  });
});

const NONE = { id: '', role: 'user' as const, parts: [] };

async function open(on: AgentWorker, options: SessionOptions = {}): Promise<SessionHandle> {
  const client = await AgentClient.connect({ connection: on.client.connection, taskQueue: on.taskQueue });
  return client.session(`s-${randomUUID()}`, options);
}

async function save(name: string, on: AgentWorker, { key }: SessionHandle): Promise<void> {
  await write(name, await on.client.workflow.getHandle(sessionId(key)).fetchHistory());
}
