import { setTimeout as pause } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { expect, inject, test } from 'vitest';
import { WORKER_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { WireServer } from '../../../src/testing/index.js';
import { usePerdureFolders } from '../support/perdure-folder.js';
import { messagesOf } from '../support/request-messages.js';
import { modelEnv, useModels } from '../support/use-models.js';

const folder = usePerdureFolders();
const model = useModels();

/** Longer than the grace of a shutdown, and shorter than the tool's own limit of five minutes. */
const LONGER_THAN_GRACE_MS = WORKER_LIMITS.shutdownGraceMs + 4_000;

// one test, because both cases wait for longer than half a minute
test('A6: a call of 34 s ends in its own time if the run of its host ends, and is stopped after 30 s if its host gets SIGTERM', async () => {
  const [result, failures] = await Promise.all([hostEnds(), hostIsTerminated()]);
  expect(result).toMatchObject({ runId: 'second', reason: 'completed', turns: 2 });
  expect(failures).toEqual(['Worker.Shutdown']);
});

/** Two terminals: the run of the first one, which hosts the worker, ends while the call of the second one runs. */
async function hostEnds(): Promise<unknown> {
  const wire = await oneCallEach();
  const here = await folder(modelEnv(wire));
  await here.hold();
  const first = here.start(['run', 'first', '--model', 'openai/test', '--id', 'first', '--json']);
  await here.started('send_once');
  const second = here.start(['run', 'second', '--model', 'openai/test', '--id', 'second', '--json']);
  await here.started('send_once', 2);
  await here.hold('second');
  await first.prints('waiting for running calls: send_once of second');
  expect(JSON.parse(first.stdout)).toMatchObject({ runId: 'first', reason: 'completed' });
  await pause(LONGER_THAN_GRACE_MS);
  expect(first.isRunning).toBe(true);
  await here.release();
  const { stdout } = await second.exits(0);
  await first.exits(0);
  const ends = (await here.effects()).filter(({ what, name }) => what === 'end' && name === 'second');
  expect(ends.map(({ pid }) => pid)).toEqual([first.pid]);
  expect(JSON.stringify(messagesOf(wire.requests.at(-1)))).toContain('send_once second done');
  return JSON.parse(stdout);
}

/** A service manager stops a worker on a shared server. */
async function hostIsTerminated(): Promise<(string | null | undefined)[]> {
  const wire = await oneCallEach();
  const here = await folder({ ...modelEnv(wire), TEMPORAL_ADDRESS: inject('temporalAddress') });
  const id = `e2e-terminated-${process.pid}`;
  const queue = ['--task-queue', id];
  await here.hold();
  const worker = here.start(['worker', ...queue]);
  await worker.prints('worker on queue');
  const run = here.start(['run', id, '--model', 'openai/test', '--id', id, '--events', '--no-worker', ...queue]);
  await here.started('send_once');
  const since = Date.now();
  worker.child.kill('SIGTERM');
  expect(await worker.ended).toMatchObject({ code: 0 });
  const tookMs = Date.now() - since;
  expect(tookMs).toBeGreaterThan(WORKER_LIMITS.shutdownGraceMs - 1_000);
  expect(tookMs).toBeLessThan(WORKER_LIMITS.shutdownForceMs);
  expect(worker.stderr).toContain(`stopping calls that still run 30 s after SIGTERM: send_once of ${id}`);
  expect((await here.effects()).map(({ what }) => what)).toEqual(['start']);
  await run.kill('SIGINT');
  return await failuresOf(id);
}

/** The failures of activities in the history of a run on the test's own server. */
async function failuresOf(runId: string): Promise<(string | null | undefined)[]> {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  try {
    const { events } = await new Client({ connection }).workflow.getHandle(runId).fetchHistory();
    const failed = (events ?? []).flatMap(({ activityTaskFailedEventAttributes }) => activityTaskFailedEventAttributes ?? []);
    return failed.map(({ failure }) => failure?.applicationFailureInfo?.type);
  } finally {
    await connection.close();
  }
}

/** Each run calls `send_once` with its task as name, and ends. */
async function oneCallEach(): Promise<WireServer> {
  return await model({
    handler: ({ answered, lastUser }) =>
      answered === 0 ? { toolCalls: [{ name: 'send_once', args: { name: lastUser } }] } : { text: 'done' },
  });
}
