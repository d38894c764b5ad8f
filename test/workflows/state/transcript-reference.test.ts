import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { call, say } from '../../support/agent-worker.js';
import { idempotentNote } from '../../support/tools/sample-tools.js';
import { useWorkers } from '../../support/use-workers.js';

describe('the transcript by reference, on a real server', () => {
  const { worker, start } = useWorkers();

  it.each([
    ['two workers that take turns', 1_000_000],
    ['two workers whose caches hold next to nothing', 600],
  ])('%s send every message in every request', async (_, transcriptCacheBytesMax) => {
    const taskQueue = `turns-${randomUUID()}`;
    const lengths: number[] = [];
    const model = (request: { messages: readonly { origin?: string | undefined }[] }) => {
      const messages = request.messages.filter((message) => message.origin === undefined);
      lengths.push(messages.length);
      return lengths.length < 12 ? call(['note', { n: lengths.length }]) : say('done');
    };
    const options = { model, tools: [idempotentNote], taskQueue, transcriptCacheBytesMax };
    const [first, second] = [await worker(options), await worker(options)];
    expect(await (await start(first, { maxTurns: 20 })).result()).toMatchObject({ reason: 'completed', output: 'done', turns: 12 });
    expect(lengths).toEqual(Array.from({ length: 12 }, (__, turn) => 2 * turn + 1));
    expect(first.requests.length + second.requests.length).toBe(12);
  });

  it('a worker that never saw the run takes it over with all its messages', async () => {
    const taskQueue = `over-${randomUUID()}`;
    const lengths: number[] = [];
    const model = (request: { messages: readonly unknown[] }) => {
      lengths.push(request.messages.length);
      return lengths.length <= 3 ? call(['note', { n: lengths.length }]) : say('done');
    };
    const first = await worker({ model, tools: [idempotentNote], taskQueue });
    const run = await start(first);
    await run.handle.signal('pause');
    await first.shutdown();
    const second = await worker({ model, tools: [idempotentNote], taskQueue });
    await run.handle.signal('resume');
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'done' });
    expect(lengths).toEqual([1, 3, 5, 7]);
    expect(second.requests.at(-1)?.messages).toHaveLength(7);
  });
});
