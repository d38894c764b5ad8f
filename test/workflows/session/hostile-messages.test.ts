import { randomUUID } from 'node:crypto';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import { array, constantFrom, dictionary, integer, jsonValue, oneof, sample, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sessionId } from '../../../src/contracts/handlers.js';
import { type AgentWorker, say } from '../../support/agent-worker.js';
import { failedTasks } from '../../support/histories/failed-tasks.js';
import { latch, until, useWorkers } from '../../support/use-workers.js';
import { useSessions } from './support/sessions.js';

const { UpdateWorkflowExecutionLifecycleStage: Stage } = proto.temporal.api.enums.v1;
const FIELDS = ['id', 'text', 'parts', 'queue', 'auth', 'after', 'types', 'key', '__proto__', 'toString'];
const part = oneof(
  jsonValue(),
  dictionary(constantFrom('type', 'text', 'mime', 'ref', 'dataBase64'), oneof(string(), constantFrom('text', 'file'), integer())),
);
const field = oneof(
  jsonValue(),
  string({ unit: 'binary', maxLength: 300 }),
  array(part, { maxLength: 4 }),
  constantFrom('steer', 'collect', 'interrupt'),
);
const value = oneof(
  { weight: 4, arbitrary: dictionary(constantFrom(...FIELDS), field, { maxKeys: 5 }).map((object) => plain(JSON.stringify(object))) },
  { weight: 1, arbitrary: jsonValue().map((given) => defaultPayloadConverter.toPayload(given)) },
  {
    weight: 1,
    arbitrary: constantFrom(
      '"\\ud800"',
      '{"id":"\\ud800","text":"\\udc00"}',
      '{"text":',
      `${'['.repeat(9_000)}${']'.repeat(9_000)}`,
      'null',
      '',
    ).map(plain),
  },
);

function plain(text: string): Payload {
  return { data: new TextEncoder().encode(text), metadata: { encoding: new TextEncoder().encode('json/plain') } };
}

describe('A-31: whatever a client sends to a session', { timeout: 120_000 }, () => {
  const { worker } = useWorkers();
  const { open } = useSessions();

  it('no workflow task fails, and the session still answers', async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const held = latch();
    const on = await worker({
      model: async (_request, call) => {
        if (call === 1) await held.opened;
        return say('ok');
      },
    });
    const session = await open(on, { queue: { cap: 5, drop: 'summarize', debounceMs: 0 } });
    await session.send({ id: 'first', text: 'one' });
    await until(() => on.requests.length === 1, 'the first run');
    const kinds = sample(constantFrom('message', 'send', 'unsend', 'session', 'events'), { seed, numRuns: 150 });
    const payloads = sample(value, { seed, numRuns: 150 });
    for (const [at, kind] of kinds.entries()) await send(on, sessionId(session.key), kind, payloads[at] ?? plain(''));
    held.open();
    await session.wait(undefined, { timeoutMs: 60_000 });
    await session.send({ id: 'last', text: 'two' });
    expect(await session.wait('last', { timeoutMs: 60_000 }), `seed ${seed}`).toMatchObject({ outcome: 'answered' });
    expect(await failedTasks(on.client, sessionId(session.key)), `seed ${seed}`).toEqual([]);
  });

  it('a message without a text is dropped with its reason, and rejected as an update', async () => {
    const on = await worker({ model: () => say('ok') });
    const session = await open(on);
    await session.send({ id: 'm1', text: 'one' });
    const handle = on.client.workflow.getHandle(sessionId(session.key));
    await handle.signal('message', { id: 'empty', text: ' ' });
    expect(await session.wait('empty')).toEqual({ outcome: 'dropped', reason: 'EMPTY_MESSAGE: message has no text and no attachment' });
    await expect(handle.executeUpdate('send', { args: [{ id: 'e2', parts: [{ type: 'tool_call' }] }] })).rejects.toMatchObject({
      cause: { type: 'Input.Invalid', message: expect.stringContaining('parts[0]') },
    });
  });

  it.each([
    ['no argument', []],
    ['another key than its id', [{ key: 'other' }]],
    ['a state of its own', [{ key: 'KEY' }, { v: 1 }]],
    ['a queue that is a number', [{ key: 'KEY', queue: 7 }]],
    ['a run that no start may have', [{ key: 'KEY', defaults: { inherits: {} } }]],
    ['deep JSON', [{ key: 'KEY', defaults: JSON.parse(`${'{"a":'.repeat(500)}1${'}'.repeat(500)}`) }]],
  ])('a start with %s ends with a failure of its own', async (_name, args) => {
    const on = await worker({ model: () => say('ok') });
    const key = `s-${randomUUID()}`;
    const given: unknown[] = JSON.parse(JSON.stringify(args).replaceAll('"KEY"', JSON.stringify(key)));
    const handle = await on.client.workflow.start('agentSession', { taskQueue: on.taskQueue, workflowId: sessionId(key), args: given });
    await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'Input.Invalid' } });
    expect(await failedTasks(on.client, sessionId(key))).toEqual([]);
  });
});

/** Sends a payload as it is. The server or the session may refuse it. */
async function send({ client }: AgentWorker, workflowId: string, name: string, given: Payload): Promise<void> {
  const { workflowService: service } = client;
  const input = { payloads: [given] };
  const to = { namespace: 'default', workflowExecution: { workflowId } };
  try {
    if (name === 'message') await service.signalWorkflowExecution({ ...to, signalName: name, input, requestId: randomUUID() });
    else if (name === 'send' || name === 'unsend')
      await service.updateWorkflowExecution({
        ...to,
        request: { meta: { updateId: randomUUID() }, input: { name, args: input } },
        waitPolicy: { lifecycleStage: Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ACCEPTED },
      });
    else await service.queryWorkflow({ namespace: 'default', execution: { workflowId }, query: { queryType: name, queryArgs: input } });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}
