import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { afterEach } from 'vitest';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import { type TestRun, testRun } from '../../support/use-workers.js';
import type { Command } from './command.js';
import type { PerdureFolder } from './perdure-folder.js';

const WORKER = fileURLToPath(new URL('../fixtures/owned-worker/worker.mjs', import.meta.url));

/** A worker process of a folder. Workers with different `state` are different hosts: they share no disk. */
export interface OwnedWorkerOptions {
  readonly address: string;
  readonly taskQueue: string;
  readonly state?: string;
  readonly heartbeatTimeoutMs: number;
}

/** Starts a worker process with a short heartbeat timeout, and waits until it polls. */
export async function startOwnedWorker(here: PerdureFolder, options: OwnedWorkerOptions): Promise<Command> {
  const { address, taskQueue, state = 'state', heartbeatTimeoutMs } = options;
  const worker = here.startScript(WORKER, [address, taskQueue, `${here.root}/${state}`, String(heartbeatTimeoutMs)]);
  await worker.prints('polling');
  return worker;
}

/** Starts runs; their connections are closed after each test. */
export function useRuns(): (on: Pick<OwnedWorkerOptions, 'address' | 'taskQueue'>) => Promise<TestRun> {
  const connections: Connection[] = [];
  afterEach(async () => {
    await Promise.all(connections.splice(0).map((connection) => connection.close()));
  });
  return async ({ address, taskQueue }) => {
    const connection = await Connection.connect({ address });
    connections.push(connection);
    const args = [{ task: 'go', model: 'openai/test' }];
    const options = { taskQueue, workflowId: taskQueue, args };
    return testRun(await new Client({ connection }).workflow.start<() => Promise<RunResult>>('agentRun', options as never));
  };
}
