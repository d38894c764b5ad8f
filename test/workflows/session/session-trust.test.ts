import { describe, expect, it } from 'vitest';
import { AgentClient } from '../../../src/client/agent-client.js';
import { sessionId } from '../../../src/contracts/handlers.js';
import type { RunInput } from '../../../src/contracts/schemas/run.js';
import { type AgentWorker, say } from '../../support/agent-worker.js';
import { testRun, until, useWorkers } from '../../support/use-workers.js';
import { useOwnedPlaces } from './support/owned-place.js';
import { useSessions } from './support/sessions.js';

describe('A3: a session at an embedded server', { timeout: 60_000 }, () => {
  // hooks run in reverse order: the workers write to the folders until they end
  const ownedPlace = useOwnedPlaces();
  const { worker } = useWorkers();
  const { open } = useSessions();

  /** A worker that asks for signatures, a client of the owner, and the folder that its runs work on. */
  async function embedded() {
    const { stateDir, workspace, options } = await ownedPlace();
    const on = await worker(options);
    const owner = await AgentClient.connect({ connection: on.client.connection, taskQueue: on.taskQueue, stateDir });
    return { on, owner, workspace };
  }

  it('the runs of a session that its owner signed may start', async () => {
    const { on, owner, workspace } = await embedded();
    const { key } = await open(on);
    const session = owner.session(key, { defaults: { context: { workspace } } });
    for (const id of ['m1', 'm2']) {
      await session.send({ id, text: 'work' });
      expect(await session.wait(id)).toMatchObject({ outcome: 'answered', reason: 'completed' });
    }
  });

  it('nobody else can use that session: an unsigned, a copied and a changed message are dropped, and start nothing', async () => {
    const { on, owner, workspace } = await embedded();
    const { key } = await open(on);
    const options = { defaults: { context: { workspace } } };
    const session = owner.session(key, options);
    await session.send({ id: 'm1', text: 'work' });
    await session.wait('m1');
    const other = (await stranger(on)).session(key, options);
    await other.send({ id: 'u1', text: 'rm' });
    expect(await session.wait('u1')).toMatchObject({
      outcome: 'dropped',
      reason: expect.stringMatching(/^UNSIGNED: a message to a session/u),
    });
    // the signature of m1, as its history shows it, for another message
    const { events } = await on.client.workflow.getHandle(sessionId(key)).fetchHistory();
    const copied = /v1\.\d+\.[0-9a-f]{64}/u.exec(
      (events ?? [])
        .flatMap(({ workflowExecutionUpdateAcceptedEventAttributes: update }) => update?.acceptedRequest?.input?.args?.payloads ?? [])
        .map(({ data }) => Buffer.from(data ?? []).toString())
        .join('\n'),
    )?.[0];
    expect(copied).toBeDefined();
    await on.client.workflow.getHandle(sessionId(key)).signal('message', { id: 'c1', text: 'work', auth: copied });
    await on.client.workflow.getHandle(sessionId(key)).signal('message', { id: 'm1', text: 'rm', auth: copied });
    expect(await session.wait('c1')).toMatchObject({ outcome: 'dropped', reason: expect.stringMatching(/^UNSIGNED/u) });
    expect((await session.query()).runs.map(({ messageIds }) => messageIds)).toEqual([['m1']]);
  });

  it('a session with a workspace that its starter did not sign ends, and reports its message', async () => {
    const { on, workspace } = await embedded();
    const { key } = await open(on);
    const session = (await stranger(on)).session(key, { defaults: { context: { workspace } } });
    await session.message({ id: 'm1', text: 'rm' });
    await expect(on.client.workflow.getHandle(sessionId(key)).result()).rejects.toMatchObject({ cause: { type: 'Input.Invalid' } });
    expect(await session.query()).toMatchObject({
      runs: [],
      dropped: [{ id: 'm1', reason: expect.stringMatching(/^UNSIGNED: a start/u) }],
    });
    expect(on.requests).toEqual([]);
  });

  it('a session without rights on this machine needs no signature', async () => {
    const { on } = await embedded();
    const session = await open(on);
    await session.send({ id: 'm1', text: 'talk' });
    expect(await session.wait('m1')).toMatchObject({ outcome: 'answered', reason: 'completed' });
  });

  it('a run that no session started cannot inherit the conversation of another run', async () => {
    const on = await worker({ model: () => say('secret') });
    const session = await open(on);
    await session.send({ id: 'm1', text: 'one' });
    const answered = await session.wait('m1');
    const conversation = answered.outcome === 'answered' ? answered.result?.conversation : undefined;
    expect(conversation).toMatchObject({ runId: `${session.key}/1`, length: 2, runs: 1 });
    const stolen = { task: 'show it', session: session.key, inherits: conversation } as RunInput;
    const run = testRun(
      await on.client.workflow.start('agentRun', { taskQueue: on.taskQueue, workflowId: `thief-${session.key}`, args: [stolen] }),
    );
    await expect(run.result()).rejects.toMatchObject({ cause: { type: 'Input.Invalid', message: expect.stringContaining('inherits') } });
    expect(on.requests).toHaveLength(1);
    await until(async () => (await session.query()).active === undefined, 'an idle session');
  });
});

/** A client without the key of the server's owner. */
async function stranger(on: AgentWorker): Promise<AgentClient> {
  return await AgentClient.connect({ connection: on.client.connection, taskQueue: on.taskQueue });
}
