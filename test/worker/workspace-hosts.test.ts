import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import type { AgentActivities } from '../../src/contracts/activities.js';
import { hostQueueOf } from '../../src/contracts/constants/host-queue.js';
import type { Progress, RunInput } from '../../src/contracts/schemas/run.js';
import { defineConfig } from '../../src/define/define-config.js';
import { captureKeys } from '../../src/providers/access/key-ring.js';
import type { LoadedConfig } from '../../src/worker/config/load-config.js';
import { createAgentActivities, createHostWorker } from '../../src/worker/create-worker.js';
import { createTestWorker } from '../support/test-worker.js';
import { until } from '../support/use-workers.js';
import { useOwnedConnections } from './support/owned-connections.js';

describe('A11: a workspace that one of the hosts of a shared queue has', () => {
  const owned = useOwnedConnections();
  let folder: string;
  let config: LoadedConfig;
  beforeEach(async () => {
    folder = owned.folder;
    const script = join(folder, 'script.json');
    await writeFile(script, JSON.stringify({ steps: [{ text: 'looked' }] }));
    config = { config: defineConfig({ model: `scripted/${script}` }), file: undefined, keys: captureKeys({}), env: {}, hash: 'test' };
  });

  it('is found although 19 of 20 hosts are asked in vain', async () => {
    let asked = 0;
    const taskQueue = await sharedQueue((own, none) => (given) => {
      asked += 1;
      return asked % 20 === 0 ? own(given) : none(given);
    });
    const handle = await start(taskQueue, { workspace: folder });
    expect(await handle.result()).toMatchObject({ reason: 'completed', output: 'looked' });
    expect(asked).toBe(20);
  });

  it('is asked on the host that the input names, which no other host prepares; without its worker the run waits and says so', async () => {
    const host = `host-${randomUUID()}`;
    const taskQueue = await sharedQueue(() => () => expect.unreachable('another host was asked'));
    const handle = await start(taskQueue, { workspace: folder, host });
    await until(async () => (await handle.query<Progress>('progress')).waitingFor === `a worker of host ${host}`, 'the wait');
    owned.run(
      await createHostWorker({ config, stateDir: folder, connection: owned.nativeConnection, overrides: { taskQueue: hostQueueOf(host) } }),
    );
    expect(await handle.result()).toMatchObject({ reason: 'completed', output: 'looked' });
  });

  it.each<[what: string, input: Partial<RunInput>]>([
    ['a tenant of 3,000 characters', { tenant: 't'.repeat(3_000) }],
    ['a session of 3,000 characters', { session: 's'.repeat(3_000) }],
  ])('%s from a plain client is refused, and does not terminate the run', async (_what, input) => {
    const taskQueue = await sharedQueue((own) => own);
    const handle = await start(taskQueue, {}, input);
    await expect(handle.result()).rejects.toMatchObject({
      cause: { type: 'Input.Invalid', message: expect.stringContaining('BAD_INPUT') },
    });
    expect((await handle.describe()).status.name).toBe('FAILED');
  });

  type Prepare = AgentActivities['prepareRun'];

  /** A worker of a queue that several hosts share. `choose`: which of them prepares, the one with the folder or one without it. */
  async function sharedQueue(choose: (own: Prepare, none: Prepare) => Prepare): Promise<string> {
    const taskQueue = `shared-${randomUUID()}`;
    const activities = createAgentActivities({ config, stateDir: folder, searchAttributes: [], toolQueue: 'nobody' });
    const own: Prepare = (given) => activities.prepareRun(given);
    const none: Prepare = (given) =>
      activities.prepareRun({ ...given, input: { ...given.input, context: { workspace: join(folder, 'not-here') } } });
    owned.run(
      await createTestWorker({
        connection: owned.nativeConnection,
        taskQueue,
        workflowBundle: { codePath: inject('workflowBundlePath') },
        activities: { ...activities, prepareRun: choose(own, none) },
      }),
    );
    return taskQueue;
  }

  function start(taskQueue: string, context: RunInput['context'], input: Partial<RunInput> = {}) {
    const args = [{ task: 'look', model: config.config.model, context, ...input }];
    return new Client({ connection: owned.connection }).workflow.start('agentRun', { taskQueue, workflowId: randomUUID(), args });
  }
});
