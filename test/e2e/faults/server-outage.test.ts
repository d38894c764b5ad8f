import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { until } from '../../support/use-workers.js';
import { useOwnServer } from '../support/own-server.js';
import { startOwnedWorker, useRuns } from '../support/owned-workers.js';
import { usePerdureFolders, WAIT_MS_MAX } from '../support/perdure-folder.js';
import { messagesOf } from '../support/request-messages.js';
import { modelEnv, useModels } from '../support/use-models.js';

const HEARTBEAT_TIMEOUT_MS = 8_000;
/** The tool ends while the server is down, and before its worker stops it at 0.8 of the heartbeat timeout. */
const TOOL_MS = 3_000;

const server = useOwnServer();
const folder = usePerdureFolders();
const model = useModels();
const startRun = useRuns();

test.each([
  ['send_once', 'longer than the heartbeat timeout', 2 * HEARTBEAT_TIMEOUT_MS],
  ['put_idempotent', 'longer than the heartbeat timeout', 2 * HEARTBEAT_TIMEOUT_MS],
  ['send_once', 'shorter than it', TOOL_MS + 1_000],
])('A5: a tool call of %s that ends in an outage %s runs once, and its result is known', async (tool, _, outageMs) => {
  const { here, wire, run } = await runUntilStarted(tool);
  await server.kill();
  const downAt = Date.now();
  await ended(here, tool);
  await delay(Math.max(0, downAt + outageMs - Date.now()));
  await server.startAgain();
  expect(await run.result()).toMatchObject({ reason: 'completed' });
  expect(JSON.stringify(messagesOf(wire.requests[1]))).toContain(`${tool} a done`);
  expect(await here.startsOf(tool)).toHaveLength(1);
});

test('A5: also when the worker is killed in the outage, by the one that starts after it on the same host', async () => {
  const { here, wire, run, worker, on } = await runUntilStarted('send_once');
  await server.kill();
  await ended(here, 'send_once');
  const kept = join(here.root, 'state', 'results');
  await until(async () => (await readdir(kept).catch(() => [])).some((name) => name.endsWith('.json')), 'the kept result');
  await worker.kill('SIGKILL');
  await server.startAgain();
  await startOwnedWorker(here, on);
  expect(await run.result()).toMatchObject({ reason: 'completed' });
  expect(JSON.stringify(messagesOf(wire.requests[1]))).toContain('send_once a done');
  expect(await here.startsOf('send_once')).toHaveLength(1);
  // the run needs it no longer
  await until(async () => (await readdir(kept)).length === 0, 'the end of the kept result');
});

async function runUntilStarted(tool: string) {
  const steps = [{ toolCalls: [{ name: tool, args: { name: 'a', ms: TOOL_MS } }] }, { text: 'done' }];
  const wire = await model({ script: { steps } });
  const here = await folder(modelEnv(wire));
  const on = { address: server.address, taskQueue: `e2e-outage-${randomUUID()}`, heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS };
  const worker = await startOwnedWorker(here, on);
  const run = await startRun(on);
  await here.started(tool);
  return { here, wire, run, worker, on };
}

async function ended(here: Awaited<ReturnType<typeof folder>>, tool: string): Promise<void> {
  const isEnd = async (): Promise<boolean> => (await here.effects()).some((effect) => effect.what === 'end' && effect.tool === tool);
  await until(isEnd, `the end of ${tool}`, WAIT_MS_MAX);
}
