import { describe, expect, it } from 'vitest';
import { HTTP_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { Message } from '../../../src/contracts/schemas/message.js';
import type { TranscriptPage } from '../../../src/contracts/schemas/page.js';
import { storedChat } from '../../../src/gateway/http/chat/stored-chat.js';

const KIB = 1024;

/** A run with these messages. Notes the indexes of those that were read. */
function runOf(runId: string, messages: readonly Message[], pageSize = 4) {
  const read = new Set<number>();
  return {
    runId,
    read,
    async *transcript({ from = 0 }: { readonly from?: number } = {}): AsyncGenerator<TranscriptPage> {
      for (let at = from; at < messages.length; at += pageSize) {
        const next = Math.min(messages.length, at + pageSize);
        for (let index = at; index < next; index += 1) read.add(index);
        yield { from: at, next, length: messages.length, messages: messages.slice(at, next), digest: '' };
      }
    },
  };
}

function text(id: string, role: 'user' | 'assistant', content: string): Message {
  return { id, role, parts: [{ type: 'text', text: content }] };
}

/** The messages of a run: its task, and answers of this size. */
function conversation(answers: number, bytes: number): Message[] {
  return [text('task', 'user', 'the task'), ...Array.from({ length: answers }, (_, at) => text(`a${at}`, 'assistant', 'x'.repeat(bytes)))];
}

type Run = ReturnType<typeof runOf>;

async function chatOf(runs: readonly Run[]) {
  const listed = runs.map(({ runId }, at) => ({ runId, messageIds: [`m${at}`], reason: 'completed' }));
  return await storedChat(listed, (runId) => runs.find((run) => run.runId === runId) ?? runOf(runId, []));
}

describe('the stored messages of a chat', () => {
  it('are those of all its runs, oldest first, and not truncated', async () => {
    const { messages, truncated } = await chatOf([runOf('c/1', conversation(2, 3)), runOf('c/2', conversation(20, 3))]);
    expect(messages.map(({ id, parts }) => [id, parts.length])).toEqual([
      ['m0', 1],
      ['c/1', 4],
      ['m1', 1],
      ['c/2', 40],
    ]);
    expect(truncated).toBe(false);
  });

  it('X20: beyond the limit of bytes, the newest are read and the older ones are left out', async () => {
    const runs = Array.from({ length: 12 }, (_, at) => runOf(`c/${at + 1}`, conversation(1, HTTP_LIMITS.chatBytesMax / 8)));
    const { messages, truncated } = await chatOf(runs);
    expect(truncated).toBe(true);
    expect(Buffer.byteLength(JSON.stringify(messages))).toBeLessThanOrEqual(HTTP_LIMITS.chatBytesMax + 4 * KIB);
    expect(messages.at(-1)?.id).toBe('c/12');
    expect(messages.filter(({ role }) => role === 'assistant').length).toBeGreaterThanOrEqual(7);
    expect(runs.map(({ read }) => read.size > 0).slice(0, 3), 'no query for what is left out').toEqual([false, false, false]);
  });

  it('X20: of one run beyond the limits of bytes or messages are its newest ones', async () => {
    const large = runOf('c/1', conversation(200, HTTP_LIMITS.chatBytesMax / 50));
    const few = await chatOf([large]);
    expect(few.truncated).toBe(true);
    expect(few.messages).toHaveLength(1);
    expect(large.read.size).toBeLessThan(100);
    expect(large.read.has(200)).toBe(true);
    const many = await chatOf([runOf('c/1', conversation(HTTP_LIMITS.chatMessagesMax + 100, 1), 500)]);
    expect(many.truncated).toBe(true);
    expect(many.messages.flatMap(({ parts }) => parts).filter(({ type }) => type === 'text')).toHaveLength(HTTP_LIMITS.chatMessagesMax);
  });

  it('of a run that copied a conversation are read from its end', async () => {
    const copied = Array.from({ length: 400 }, (_, at) => text(`old${at}`, at % 2 === 0 ? 'user' : 'assistant', 'old'));
    const run = runOf('c/2', [...copied, ...conversation(1, 3)]);
    const { messages, truncated } = await chatOf([run]);
    expect(messages).toMatchObject([{ parts: [{ text: 'the task' }] }, { id: 'c/2' }]);
    expect(run.read.size).toBeLessThan(60);
    expect(truncated, 'the first run is not listed').toBe(true);
  });
});
