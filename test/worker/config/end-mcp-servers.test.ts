import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import type { Worker } from '@temporalio/worker';
import { afterEach, describe, expect, inject, it } from 'vitest';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import type { LoadedConfig } from '../../../src/worker/config/load-config.js';
import { createHostWorker, createWorker } from '../../../src/worker/create-worker.js';
import { PerdurePlugin } from '../../../src/worker/plugin.js';
import { killMarked } from '../../providers/support/kill-marked.js';
import { createTestWorker } from '../../support/test-worker.js';
import { until } from '../../support/use-workers.js';
import { liveProcesses } from '../../tools/support/live-processes.js';
import { useOwnedConnections } from '../support/owned-connections.js';

const SERVER = fileURLToPath(new URL('../../activities/mcp/support/changing-server.mjs', import.meta.url));

describe('the MCP servers of a worker', () => {
  const owned = useOwnedConnections();
  const marker = `mcp-of-worker-${randomUUID()}`;
  afterEach(() => killMarked(marker));

  it('end with it: no process of them is left when its run has ended', async () => {
    const taskQueue = `mcp-${randomUUID()}`;
    const worker = await createWorker({ ...workerOptions(), taskQueue });
    expect(await processesBeforeEnd(worker, taskQueue)).not.toEqual([]);
    await untilGone();
  });

  it('stay for the other worker of the process that shares them, and end with the last', async () => {
    const options = workerOptions();
    const [taskQueue, hostQueue] = [`mcp-${randomUUID()}`, `mcp-host-${randomUUID()}`];
    const worker = await createWorker({ ...options, taskQueue });
    const hostWorker = await createHostWorker({ ...options, overrides: { taskQueue: hostQueue } });
    const [running, runningHost] = [worker.run(), hostWorker.run()];
    await runOnce(taskQueue);
    const processes = await liveProcesses(marker);
    hostWorker.shutdown();
    await runningHost;
    expect(await liveProcesses(marker)).toEqual(processes);
    await runOnce(taskQueue);
    expect(await liveProcesses(marker)).toEqual(processes);
    worker.shutdown();
    await running;
    await untilGone();
  });

  it('end with a worker that has the plugin', async () => {
    const taskQueue = `mcp-${randomUUID()}`;
    const { config, stateDir } = workerOptions();
    const worker = await createTestWorker({
      connection: owned.nativeConnection,
      taskQueue,
      workflowBundle: { codePath: inject('workflowBundlePath') },
      plugins: [new PerdurePlugin({ config, stateDir, searchAttributes: [] })],
    });
    expect(await processesBeforeEnd(worker, taskQueue)).not.toEqual([]);
    await untilGone();
  });

  function workerOptions() {
    const overrides = { workflowBundle: { codePath: inject('workflowBundlePath') } };
    return { connection: owned.nativeConnection, config: loadedConfig(), stateDir: owned.folder, overrides };
  }

  function loadedConfig(): LoadedConfig {
    const executor = { kind: 'stub', answer: 'done' } as const;
    const agents = { parrot: { description: 'Says it.', prompt: 'Say it.', executor } };
    const mcpServers = { door: { command: process.execPath, args: [SERVER, marker], required: true } };
    return { config: { agents, mcpServers }, file: undefined, env: {}, keys: captureKeys({}), hash: randomUUID() };
  }

  /** A run whose start lists the tools of the server. */
  async function runOnce(taskQueue: string): Promise<void> {
    const { workflow } = new Client({ connection: owned.connection });
    const args = [{ task: 'go', agent: 'parrot' }];
    const result = (await workflow.execute('agentRun', { taskQueue, workflowId: randomUUID(), args })) as RunResult;
    expect(result).toMatchObject({ reason: 'completed', output: 'done' });
  }

  /** Ends a worker after one run. Gives the processes of the servers between the two. */
  async function processesBeforeEnd(worker: Pick<Worker, 'run' | 'shutdown'>, taskQueue: string): Promise<unknown[]> {
    const running = worker.run();
    await runOnce(taskQueue);
    const processes = await liveProcesses(marker);
    worker.shutdown();
    await running;
    return processes;
  }

  async function untilGone(): Promise<void> {
    await until(async () => (await liveProcesses(marker)).length === 0, 'the end of the servers');
  }
});
