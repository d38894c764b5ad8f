import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { SteerRecord } from '../../../src/contracts/schemas/run.js';
import { call, say } from '../../support/agent-worker.js';
import { latch, until, useWorkers } from '../../support/use-workers.js';
import { CliFolder } from '../support/cli.js';

describe('directing a live run from another terminal', { timeout: 60_000 }, () => {
  const { worker, start } = useWorkers();
  let folder: CliFolder;
  beforeEach(async () => {
    folder = await CliFolder.make();
  });
  afterEach(() => folder.remove());

  it('B-29: hold keeps the next turn back and says for how long, release lets it go; both answer in JSON too', async () => {
    const gate = latch();
    const on = await worker({ model: (_, n) => (n === 1 ? gate.opened.then(() => call(['nothing', {}])) : say('ok')), policy: {} });
    const run = await start(on);
    const place = ['--address', inject('temporalAddress'), '--task-queue', on.taskQueue];
    await until(() => on.requests.length === 1, 'the first request');
    const held = await folder.run(['hold', run.runId, '--ttl', '5m', '--by', 'ann', ...place]);
    expect(held).toMatchObject({ code: 0, stdout: '' });
    expect(held.stderr).toBe(`${run.runId}: held for at most 5m; release it with: perdure release ${run.runId}\n`);
    gate.open();
    await until(async () => (await run.progress()).waitingFor?.includes('held by ann until') === true, 'the hold');
    const released = await folder.run(['release', run.runId, '--json', ...place]);
    expect(JSON.parse(released.stdout)).toEqual({ runId: run.runId, held: false });
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 2 });
    expect(await folder.run(['hold', run.runId, ...place])).toMatchObject({ code: 4, stderr: expect.stringMatching(/^RUN_CLOSED: /u) });
  });

  it('steer sends its mode and its time to live along', async () => {
    const gate = latch();
    const on = await worker({ model: () => gate.opened.then(() => say('ok')), policy: {} });
    const run = await start(on);
    const place = ['--address', inject('temporalAddress'), '--task-queue', on.taskQueue];
    await until(() => on.requests.length === 1, 'the first request');
    const sent = await folder.run(['steer', run.runId, 'hurry', '--id', 's', '--mode', 'preempt', '--ttl', '1h', ...place]);
    expect(sent).toMatchObject({ code: 0, stderr: `message s queued for ${run.runId}\n` });
    expect(await run.handle.query<readonly SteerRecord[]>('steers')).toEqual([{ id: 's', state: 'queued' }]);
    const { events = [] } = await run.handle.fetchHistory();
    const signal = events?.find((event) => event.workflowExecutionSignaledEventAttributes)?.workflowExecutionSignaledEventAttributes;
    const [payload] = signal?.input?.payloads ?? [];
    expect(JSON.parse(new TextDecoder().decode(payload?.data ?? undefined))).toEqual({
      id: 's',
      text: 'hurry',
      mode: 'preempt',
      ttlMs: 3_600_000,
    });
    gate.open();
    expect(await run.result()).toMatchObject({ reason: 'completed', unconsumed: [] });
  });
});
