import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { expect, inject, onTestFinished, test } from 'vitest';
import { AgentClient } from '../../src/client/agent-client.js';
import { freePort } from '../support/free-port.js';
import { killServer, startTemporalServer, untilAnswering } from '../support/temporal-server.js';

const SIGNALS_MAX = 3;

test('a run that was sent as many signals as the server allows says so, and can still be cancelled', async () => {
  const address = await serverOfFewSignals();
  const client = await AgentClient.connect({ address, taskQueue: 'nobody' });
  onTestFinished(() => client.close());
  const { run } = await client.start({ task: 'wait for a worker that never comes' });
  for (let sent = 0; sent < SIGNALS_MAX; sent += 1) await run.steer(`message ${sent}`);
  await expect(run.steer('one more')).rejects.toMatchObject({
    code: 'SIGNAL_LIMIT',
    exitCode: 4,
    message: expect.stringContaining(`run ${run.runId} was sent as many signals as the server allows`),
  });
  await expect(run.pause()).rejects.toMatchObject({ code: 'SIGNAL_LIMIT' });
  expect(await run.cancel({ reason: 'enough' })).toEqual({});
  const connection = await Connection.connect({ address });
  onTestFinished(() => connection.close());
  const { raw } = await new Client({ connection }).workflow.getHandle(run.runId).describe();
  expect(raw.workflowExtendedInfo?.cancelRequested).toBe(true);
});

/** The address of a server of its own, which allows few signals. */
async function serverOfFewSignals(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'perdure-signals-'));
  const port = await freePort();
  const config = [`history.maximumSignalsPerExecution=${SIGNALS_MAX}`];
  const server = startTemporalServer({ binary: inject('temporalBinary'), port, folder, config });
  onTestFinished(async () => {
    await killServer(server);
    await rm(folder, { recursive: true, force: true });
  });
  await untilAnswering(server, `127.0.0.1:${port}`);
  return `127.0.0.1:${port}`;
}
