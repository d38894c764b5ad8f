import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import type { AgentActivities } from '../../src/contracts/activities.js';
import type { RunInput, RunResult } from '../../src/contracts/schemas/run.js';
import { defineConfig } from '../../src/define/define-config.js';
import { defineTool } from '../../src/define/define-tool.js';
import { captureKeys } from '../../src/providers/access/key-ring.js';
import type { LoadedConfig } from '../../src/worker/config/load-config.js';
import { createAgentActivities, createHostWorker } from '../../src/worker/create-worker.js';
import { childArgs } from '../providers/support/executor-child.js';
import { killMarked } from '../providers/support/kill-marked.js';
import { createTestWorker } from '../support/test-worker.js';

/** Three answers of one process, which says so. */
const BODY = `
  await next();
  call({ name: 'look' });
  await next();
  call({ name: 'look' });
  const { results } = await next();
  say({ type: 'final', text: 'three answers of one process' });
`;

const look = defineTool({ name: 'look', description: 'Looks.', parameters: z.strictObject({}), effect: 'read', execute: () => 'seen' });

describe('a queue that several hosts share', () => {
  let marker: string;
  let folder: string;
  beforeEach(async () => {
    marker = `host-worker-${randomUUID()}`;
    folder = await mkdtemp(join(tmpdir(), 'perdure-hosts-'));
  });
  afterEach(async () => {
    await killMarked(marker);
    await rm(folder, { recursive: true, force: true });
  });

  it.each<[what: string, context: () => Pick<RunInput, 'context'>]>([
    ['in a workspace', () => ({ context: { workspace: folder } })],
    ['without a workspace', () => ({})],
  ])('has every turn of an agent that is a child process asked where the process is: %s', async (_what, context) => {
    expect(await runOverHosts({ task: 'go', agent: 'crew', ...context() })).toMatchObject({
      reason: 'completed',
      output: 'three answers of one process',
      turns: 3,
    });
  });

  /** A worker of the shared queue that stands for two hosts, which answer in turn, and the first one's own. */
  async function runOverHosts(input: RunInput): Promise<RunResult> {
    const address = inject('temporalAddress');
    const [connection, nativeConnection] = await Promise.all([Connection.connect({ address }), NativeConnection.connect({ address })]);
    const [taskQueue, toolQueue] = [`shared-${randomUUID()}`, `host-${randomUUID()}`];
    const config = crew();
    const host = (): AgentActivities => createAgentActivities({ config, stateDir: folder, searchAttributes: [], toolQueue });
    const [first, second] = [host(), host()];
    let asked = 0;
    const callModel: AgentActivities['callModel'] = (given) => {
      asked += 1;
      return (asked % 2 === 1 ? first : second).callModel(given);
    };
    const workers = await Promise.all([
      createTestWorker({
        connection: nativeConnection,
        taskQueue,
        workflowBundle: { codePath: inject('workflowBundlePath') },
        activities: { ...first, callModel },
      }),
      createHostWorker({ config, stateDir: folder, connection: nativeConnection, overrides: { taskQueue: toolQueue } }),
    ]);
    const running = workers.map((worker) => worker.run());
    try {
      return await new Client({ connection }).workflow.execute('agentRun', { taskQueue, workflowId: randomUUID(), args: [input] });
    } finally {
      for (const worker of workers) worker.shutdown();
      await Promise.all(running);
      await nativeConnection.close();
      await connection.close();
    }
  }

  function crew(): LoadedConfig {
    const executor = { kind: 'subprocess', command: process.execPath, args: childArgs(BODY, marker) } as const;
    const config = defineConfig({ tools: [look], agents: { crew: { description: 'A crew.', prompt: 'Be brief.', executor } } });
    return { config, file: undefined, keys: captureKeys({}), env: {}, hash: 'test' };
  }
});
