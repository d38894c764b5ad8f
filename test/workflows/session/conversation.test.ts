import { describe, expect, it } from 'vitest';
import { AgentClient } from '../../../src/client/agent-client.js';
import { textOf } from '../../../src/contracts/message-text.js';
import type { Conversation } from '../../../src/contracts/schemas/conversation.js';
import { mustCopyConversation } from '../../../src/workflows/turn/copy-conversation.js';
import { say } from '../../support/agent-worker.js';
import { useWorkers } from '../../support/use-workers.js';
import { useSessions } from './support/sessions.js';

const KIB = 1_024;

describe('the conversation of a session', { timeout: 120_000 }, () => {
  const { worker } = useWorkers();
  const { open } = useSessions();

  it('costs a run what is new: the history of a later run is no longer than that of an early one', async () => {
    const on = await worker({ model: () => say('a'.repeat(8 * KIB)) });
    const session = await open(on);
    const sizes: number[] = [];
    for (let n = 1; n <= 12; n += 1) {
      await session.send({ id: `m${n}`, text: `${n} ${'q'.repeat(8 * KIB)}` });
      await session.wait(`m${n}`);
      const { raw } = await on.client.workflow.getHandle(`${session.key}/${n}`).describe();
      sizes.push(Number(raw.workflowExecutionInfo?.historySizeBytes));
    }
    expect(on.requests.at(-1)?.messages).toHaveLength(23);
    // the first run has no conversation to refer to
    expect(sizes.at(-1) ?? 0).toBeLessThan((sizes[1] ?? 0) * 1.1);
  });

  it('is read by a worker without a cache, run by run, and by `continue`', async () => {
    const first = await worker({ model: ({ messages }) => say(`answer ${messages.length}`) });
    const session = await open(first);
    for (const id of ['m1', 'm2', 'm3']) {
      await session.send({ id, text: id });
      await session.wait(id);
    }
    await first.shutdown();
    const second = await worker({ model: ({ messages }) => say(`second ${messages.length}`), taskQueue: first.taskQueue });
    await session.send({ id: 'm4', text: 'm4' });
    expect(await session.wait('m4', { timeoutMs: 60_000 })).toMatchObject({ result: { output: 'second 7' } });
    expect(second.requests[0]?.messages.map(textOf)).toEqual(['m1', 'answer 1', 'm2', 'answer 3', 'm3', 'answer 5', 'm4']);
    const client = await AgentClient.connect({ connection: second.client.connection, taskQueue: second.taskQueue });
    const { run } = await client.get(`${session.key}/2`).continue({ text: 'go on' });
    await run.result();
    expect(second.requests.at(-1)?.messages.map(textOf)).toEqual(['m1', 'answer 1', 'm2', 'answer 3', 'go on']);
  });

  it('C-21: is summarised when it fills the window, and the next run goes on from the summary', async () => {
    const on = await worker({
      model: ({ messages, tools }) =>
        say(tools.length === 0 && textOf(messages.at(-1) ?? messages[0] ?? EMPTY).includes('ummar') ? 'SUMMARY' : `a ${'x'.repeat(6_000)}`),
      policy: { compaction: { strategies: ['summary'] } },
      contextWindow: 10_000,
    });
    const session = await open(on);
    for (let n = 1; n <= 8; n += 1) {
      await session.send({ id: `m${n}`, text: `question ${n}` });
      expect(await session.wait(`m${n}`, { timeoutMs: 60_000 })).toMatchObject({ outcome: 'answered', reason: 'completed' });
    }
    const last = await session.wait('m8');
    const conversation = last.outcome === 'answered' ? last.result?.conversation : undefined;
    expect(conversation?.tokens).toBeLessThan(10_000);
    expect(conversation?.length).toBeLessThan(16);
    const asked = on.requests.at(-1)?.messages.map(textOf) ?? [];
    expect(asked.some((text) => text.startsWith('[summary of '))).toBe(true);
    expect(asked.at(-1)).toBe('question 8');
  });

  it('is copied by a run once it refers to many runs, or to an old one', () => {
    const inherits: Conversation = { runId: 'k/1', executionId: 'e', length: 2, digest: 'd', bytes: 10, tokens: 3, runs: 1, since: 1_000 };
    expect(mustCopyConversation({ inherits: undefined }, 1_000)).toBe(false);
    expect(mustCopyConversation({ inherits }, 2_000)).toBe(false);
    expect(mustCopyConversation({ inherits: { ...inherits, runs: 20 } }, 2_000)).toBe(true);
    expect(mustCopyConversation({ inherits }, 1_000 + 13 * 3_600_000)).toBe(true);
  });

  it('the copy holds the same messages, and the runs after it refer to it alone', async () => {
    const on = await worker({ model: ({ messages }) => say(`answer ${messages.length}`) });
    const session = await open(on);
    for (let n = 1; n <= 22; n += 1) {
      await session.send({ id: `m${n}`, text: `m${n}` });
      await session.wait(`m${n}`, { timeoutMs: 60_000 });
    }
    expect(on.requests.at(-1)?.messages.map(textOf)).toEqual(
      Array.from({ length: 22 }, (_, n) => [`m${n + 1}`, `answer ${2 * n + 1}`])
        .flat()
        .slice(0, -1),
    );
    const last = await session.wait('m22');
    expect(last.outcome === 'answered' ? last.result?.conversation : undefined).toMatchObject({ length: 44, runs: 2 });
  });
});

const EMPTY = { id: '', role: 'user' as const, parts: [] };
