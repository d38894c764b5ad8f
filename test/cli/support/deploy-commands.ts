import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import type { ApprovalList } from '../../../src/contracts/schemas/approval.js';
import type { AgentWorker } from '../../support/agent-worker.js';
import { startDeployWorker } from '../../support/start-deploy-worker.js';
import { CliFolder, type CommandEnd } from './cli.js';
import { type CommandInWork, commandHere, startHere } from './command-here.js';

/** What a test file has that types commands about runs which wait for a person. */
export interface DeployCommands {
  readonly client: Client;
  /** Carries a command out on the worker's queue, in a folder of the test file. */
  readonly here: (...args: readonly string[]) => Promise<CommandEnd>;
  /** Starts a command in the same way. */
  readonly started: (...args: readonly string[]) => CommandInWork;
  /** Starts a run, waits until its call needs a person, and gives the id of the call. */
  readonly waitingRun: (runId: string) => Promise<string>;
}

/** A worker of `startDeployWorker` for all tests of a file. Its folder is the current one of the process. */
export function useDeployCommands(): DeployCommands {
  let worker: AgentWorker;
  let folder: CliFolder;
  const home = process.cwd();
  const at = () => ['--address', inject('temporalAddress'), '--task-queue', worker.taskQueue];
  beforeAll(async () => {
    worker = await startDeployWorker();
    folder = await CliFolder.make();
    process.chdir(folder.path);
  });
  afterAll(async () => {
    process.chdir(home);
    await folder.remove();
    await worker.stop();
  });
  return {
    get client() {
      return worker.client;
    },
    here: (...args) => commandHere(...args, ...at()),
    started: (...args) => startHere(...args, ...at()),
    waitingRun: async (runId) => {
      const handle = await worker.client.workflow.start('agentRun', {
        taskQueue: worker.taskQueue,
        workflowId: runId,
        args: [{ task: 'deploy it', maxTurns: 9 }],
      });
      const pending = async () => (await handle.query<ApprovalList>('approvals')).pending;
      await expect.poll(async () => (await pending()).length, { timeout: 30_000 }).toBe(1);
      return (await pending())[0]?.callId ?? '';
    },
  };
}
