import { afterEach, describe, expect, inject, it } from 'vitest';
import { readSubagentTree } from '../../../src/cli/host/subagent-tree.js';
import { AgentClient } from '../../../src/client/agent-client.js';
import { call, say } from '../../support/agent-worker.js';
import { cast, castConfig, delegate } from '../../support/subagents/cast.js';
import { latch, until, untilAborted, useWorkers } from '../../support/use-workers.js';

const config = castConfig({
  lead: { subagents: { agents: ['scout'], depth: 2 } },
  scout: { subagents: ['writer'] },
  writer: {},
});

describe('the tree of sub-agents', { timeout: 60_000 }, () => {
  const { worker, start } = useWorkers();
  const clients: AgentClient[] = [];
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });

  async function connect(): Promise<AgentClient> {
    const client = await AgentClient.connect({ address: inject('temporalAddress') });
    clients.push(client);
    return client;
  }

  it('has both levels, of a run at work and of one that ended, with the usage of those that ended', async () => {
    const held = latch();
    const on = await worker({
      config,
      model: cast({
        lead: (_, n) => (n === 1 ? call(delegate('scout', 'a')) : say('done')),
        scout: (_, n) => (n === 1 ? call(delegate('writer', 'b')) : say('done')),
        writer: async () => {
          await held.opened;
          return say('done');
        },
      }),
    });
    const client = await connect();
    const run = await start(on, { agent: 'lead' });
    const id = run.runId;
    await until(() => on.requests.length === 3, 'the request of the writer');
    const atWork = [
      { runId: `${id}/scout-1`, agent: 'scout', subagents: [{ runId: `${id}/scout-1/writer-1`, agent: 'writer', subagents: [] }] },
    ];
    expect(await readSubagentTree(client, { progress: await client.get(id).progress(), result: undefined })).toEqual(atWork);
    held.open();
    const result = await client.get(id).result();
    expect(await readSubagentTree(client, { progress: undefined, result })).toMatchObject([
      {
        runId: `${id}/scout-1`,
        reason: 'completed',
        usage: { inputTokens: 30 },
        subagents: [{ reason: 'completed', usage: { inputTokens: 10 } }],
      },
    ]);
  });

  it('without a worker, shows a sub-agent at work without its own sub-agents', async () => {
    const on = await worker({
      config,
      model: cast({ lead: () => call(delegate('scout', 'a')), scout: ({ signal }) => untilAborted(signal) }),
      shutdownGraceMs: 0,
    });
    const client = await connect();
    const run = await start(on, { agent: 'lead' });
    await until(async () => ((await run.progress()).subagents ?? []).length === 1, 'the scout');
    const progress = await client.get(run.runId).progress();
    await on.shutdown();
    expect(await readSubagentTree(client, { progress, result: undefined })).toEqual([
      { runId: `${run.runId}/scout-1`, agent: 'scout', subagents: [] },
    ]);
    await run.handle.terminate();
    await on.client.workflow.getHandle(`${run.runId}/scout-1`).terminate();
  });
});
