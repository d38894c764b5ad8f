import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import type { QueryDefinition } from '@temporalio/common';
import { describe, expect, inject, it } from 'vitest';
import { TemporalAccess } from '../../../src/client/temporal/connection.js';
import { type WatchItem, watchRun } from '../../../src/client/watch/watch-run.js';
import type { ModelAnswer, ModelRequest } from '../../../src/providers/contract/provider.js';
import { FileStreamSink } from '../../../src/streams/file-stream-sink.js';
import { FileStreamSource } from '../../../src/streams/file-stream-source.js';
import { type AgentWorker, say } from '../../support/agent-worker.js';
import { useTempFolder } from '../../support/temp-folder.js';
import { latch, type TestRun, until, useWorkers } from '../../support/use-workers.js';

function streamed(request: ModelRequest): ModelAnswer {
  for (const text of ['All ', 'is ', 'done.']) request.onDelta?.({ type: 'text', text });
  return say('All is done.');
}

/** A client whose queries wait. */
class SlowAccess extends TemporalAccess {
  readonly #ready: Promise<unknown>;

  constructor({ client, taskQueue }: AgentWorker, ready: Promise<unknown>) {
    super({ client, taskQueue, address: inject('temporalAddress'), tls: false, inputBytesMax: 1_000_000 });
    this.#ready = ready;
  }

  override async query<Answer, Args extends unknown[]>(
    handle: WorkflowHandle,
    definition: QueryDefinition<Answer, Args>,
    ...args: Args
  ): Promise<Answer> {
    await this.#ready;
    return await super.query(handle, definition, ...args);
  }
}

describe('the order of a watch', { timeout: 60_000 }, () => {
  const folder = useTempFolder('perdure-watch-');
  const { worker, start } = useWorkers();

  /** What a watch yields whose queries wait for `ready`, in order: events by their type, and tokens. */
  async function watched(run: TestRun, on: AgentWorker, ready: Promise<unknown>): Promise<string[]> {
    const access = new SlowAccess(on, ready);
    const items: WatchItem[] = [];
    for await (const item of watchRun({ access, handle: run.handle, streams: new FileStreamSource({ folder: folder.path }) }))
      items.push(item);
    return items.flatMap((item) => (item.type === 'event' ? [item.event.type] : item.type === 'stream' ? ['token'] : []));
  }

  it('A-29: tokens come after the start of their run, also while the first query waits', async () => {
    const gate = latch();
    const on = await worker({
      streams: new FileStreamSink({ folder: folder.path }),
      model: async (request) => {
        const answer = streamed(request);
        await gate.opened;
        return answer;
      },
    });
    const run = await start(on);
    const ready = latch();
    const order = watched(run, on, ready.opened);
    await until(() => Promise.resolve(on.requests.length > 0), 'the model call');
    // time in which a watch without order would yield the tokens
    await delay(500);
    ready.open();
    gate.open();
    expect((await order)[0]).toBe('run.started');
    expect(await order).toContain('token');
  });

  it('A-29: also when the run ends before its first query is answered', async () => {
    const on = await worker({ streams: new FileStreamSink({ folder: folder.path }), model: streamed });
    const run = await start(on);
    const order = await watched(
      run,
      on,
      // the watch ends first, and stops its query
      run.result().then(() => delay(500)),
    );
    expect(order[0]).toBe('run.started');
    expect(order.lastIndexOf('token')).toBeLessThan(order.indexOf('model.completed'));
    expect(order).toContain('token');
  });
});
