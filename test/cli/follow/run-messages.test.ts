import { expect, it } from 'vitest';
import { RunMessages } from '../../../src/cli/follow/run-messages.js';
import type { Message } from '../../../src/contracts/schemas/message.js';

/** A transcript with these messages. */
function transcript(...ids: string[]): Message[] {
  return ids.map((id) => ({ id, role: 'assistant', turn: 1, parts: [{ type: 'text', text: id }] }));
}

it('each message is given once: not again when nothing was added, and only the new ones behind a compaction', async () => {
  let messages = transcript('a', 'b', 'c');
  const asked: number[] = [];
  const run = {
    async *transcript({ from = 0, bytesMax }: { from?: number; bytesMax?: number } = {}) {
      asked.push(from);
      const page = bytesMax === 1 ? messages.slice(from, from + 1) : messages.slice(from);
      yield { from, next: Math.min(messages.length, from + page.length), length: messages.length, digest: '', messages: page };
    },
  };
  const read = new RunMessages(run);
  const next = async (): Promise<string[]> => (await read.next()).map(({ id }) => id);
  expect(await next()).toEqual(['a', 'b', 'c']);
  asked.length = 0;
  expect([await next(), asked]).toEqual([[], [3]]);
  messages = [...transcript('summary'), ...messages.slice(2), ...transcript('d')].slice(0, 2);
  expect(await next()).toEqual(['summary']);
  messages = [...messages, ...transcript('d')];
  expect(await next()).toEqual(['d']);
});
