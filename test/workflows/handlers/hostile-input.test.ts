import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import {
  array,
  constant,
  constantFrom,
  dictionary,
  double,
  integer,
  jsonValue,
  oneof,
  sample,
  string,
  tuple,
  uint8Array,
} from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SIGNALS, UPDATES } from '../../../src/contracts/verbs/index.js';
import { createDataConverter } from '../../../src/worker/data-converter.js';
import { FileBlobStore } from '../../../src/worker/storage/blob-store.js';
import type { AgentWorker } from '../../support/agent-worker.js';
import { call, say } from '../../support/agent-worker.js';
import { failedTasks } from '../../support/histories/failed-tasks.js';
import { latch, type TestRun, testRun, until, useWorkers } from '../../support/use-workers.js';

const { UpdateWorkflowExecutionLifecycleStage: Stage } = proto.temporal.api.enums.v1;
const QUERIES = ['progress', 'transcript', 'events', 'usage', 'approvals', 'steers', 'steps', 'setup', 'result', 'nonsense'];
const FIELDS = [
  'text',
  'id',
  'mode',
  'ttlMs',
  'reason',
  'by',
  'callId',
  'turns',
  'costUsd',
  'from',
  'to',
  'bytesMax',
  'after',
  '__proto__',
  'toString',
];

const json = (text: string): Payload => payload('json/plain', text);

function payload(encoding: string | undefined, text: string | Uint8Array): Payload {
  const data = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  return { data, ...(encoding === undefined ? {} : { metadata: { encoding: new TextEncoder().encode(encoding) } }) };
}

/** JSON texts that a client of ours never sends. */
const STRANGE = [
  '"\\ud800"',
  '{"text":"\\udc00 a lone surrogate","id":"\\ud800"}',
  '{"__proto__":{"text":"x"},"constructor":{"prototype":1}}',
  '{"text":"x","__proto__":null}',
  '{"text":"NaN","ttlMs":1e999,"turns":-1e999}',
  '{"text":"x","mode":"interrupt","ttlMs":-0}',
  '{"turns":9007199254740993,"costUsd":1e-320}',
  '[null]',
  'null',
  '1e999',
  `${'['.repeat(10_000)}${']'.repeat(10_000)}`,
  `{"text":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`,
  `"${'/think a\\n'.repeat(20_000)}"`,
  `"${'x'.repeat(1_000_000)}"`,
  `{${Array.from({ length: 50_000 }, (_, n) => `"k${n}":${n}`).join(',')}}`,
];

const field = oneof(
  jsonValue(),
  string({ unit: 'binary', maxLength: 300 }),
  double(),
  integer(),
  constantFrom('interrupt', 'preempt', 'budget', ''),
);
const value = oneof(
  { weight: 3, arbitrary: dictionary(constantFrom(...FIELDS), field, { maxKeys: 5 }).map((object) => json(JSON.stringify(object))) },
  { weight: 1, arbitrary: jsonValue().map((given) => defaultPayloadConverter.toPayload(given)) },
  { weight: 1, arbitrary: constantFrom(...STRANGE).map(json) },
  { weight: 1, arbitrary: string({ maxLength: 40 }).map((text) => json(`{"text":${text}`)) },
  {
    weight: 1,
    arbitrary: tuple(constantFrom(undefined, '', 'binary/plain', 'binary/null', 'json/protobuf', 'nobody/knows'), uint8Array()).map(
      ([encoding, data]) => payload(encoding, data),
    ),
  },
);
const payloads = oneof({ weight: 5, arbitrary: value.map((one) => [one]) }, { weight: 1, arbitrary: array(value, { maxLength: 3 }) });
const messages = oneof(
  {
    weight: 4,
    arbitrary: tuple(constant('signal' as const), constantFrom(...Object.keys(SIGNALS).filter((name) => name !== 'cancel')), payloads),
  },
  { weight: 2, arbitrary: tuple(constant('update' as const), constantFrom(...Object.keys(UPDATES)), payloads) },
  { weight: 2, arbitrary: tuple(constant('query' as const), constantFrom(...QUERIES), payloads) },
);

describe('whatever a client sends', () => {
  const { worker, start } = useWorkers();

  it('A1: no workflow task fails, and the run still obeys a cancel', { timeout: 120_000 }, async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const [asked, held] = [latch(), latch()];
    const on = await worker({
      model: async (_, n) => {
        if (n === 1) return call(['nothing', {}]);
        asked.open();
        await held.opened;
        return say('done');
      },
      policy: {},
    });
    const run = await start(on);
    await asked.opened;
    const sent = sample(messages, { seed, numRuns: 240 });
    for (let at = 0; at < sent.length; at += 8) {
      await Promise.all(sent.slice(at, at + 8).map((message) => send(on, run.runId, message)));
    }
    await run.handle.signal('cancel', { reason: 'enough' });
    held.open();
    const result = await run.result();
    expect(result.reason, `seed ${seed}`).toBe('cancelled');
    expect(await failedTasks(run.handle.client, run.runId), `failed workflow tasks with seed ${seed}`).toEqual([]);
    expect(await run.progress()).toMatchObject({ status: 'cancelled' });
  });

  it('A1, A15: a run with any arguments ends with a result', { timeout: 120_000 }, async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const on = await worker({ model: () => say('done'), policy: {} });
    const given = [
      [],
      [json('null')],
      [json('[]')],
      [json('"text"')],
      [json('{"task":"x"'), json('{}')],
      [json('{"task":"x"}'), json('{"v":1}')],
      [json('{"task":"x"}'), json('null')],
      [payload('nobody/knows', 'x')],
      [payload(undefined, 'x')],
      ...STRANGE.map((text) => [json(text)]),
      ...sample(payloads, { seed, numRuns: 60 }),
    ];
    for (let at = 0; at < given.length; at += 8) {
      await Promise.all(
        given.slice(at, at + 8).map(async (args) => {
          const run = await startRaw(on, args);
          const ended = await run.result().catch((error: Error & { cause?: { type?: string } }) => error.cause);
          expect(ended, `seed ${seed}, arguments ${at}`).toMatchObject({ type: 'Input.Invalid' });
          expect(await failedTasks(run.handle.client, run.runId), `failed workflow tasks with seed ${seed}`).toEqual([]);
          expect(await run.handle.query('result')).toMatchObject({ reason: 'error', error: { type: 'Input.Invalid' } });
        }),
      );
    }
  });

  it('A2: a steer that cannot be decoded is refused with an event, and a later cancel works', async () => {
    const held = latch();
    const on = await worker({ model: () => held.opened.then(() => say('done')), policy: {} });
    const run = await start(on);
    await until(async () => (await run.progress()).phase === 'model');
    for (const bad of [json('{"text":"x'), payload('nobody/knows', 'x'), payload(undefined, 'x')]) {
      await send(on, run.runId, ['signal', 'steer', [bad]]);
    }
    await until(async () => (await run.events()).filter(({ type }) => type === 'steer.refused').length === 3, 'three refusals');
    const refused = (await run.events()).filter((event) => event.type === 'steer.refused');
    expect(refused.every(({ reason }) => reason.startsWith('UNREADABLE_PAYLOAD: steer: its payload cannot be decoded'))).toBe(true);
    await run.handle.signal('cancel', {});
    held.open();
    expect(await run.result()).toMatchObject({ reason: 'cancelled' });
    expect(await failedTasks(run.handle.client, run.runId)).toEqual([]);
  });

  it('A2: a steer, and the input of a run, that a client stored in another folder are refused with the reference', async () => {
    const artifactsDir = await mkdtemp(join(tmpdir(), 'perdure-artifacts-'));
    onTestFinished(() => rm(artifactsDir, { recursive: true, force: true }));
    await new FileBlobStore(artifactsDir).put(Buffer.from('the folder is in use'));
    const held = latch();
    const dataConverter = createDataConverter({ artifactsDir });
    const on = await worker({ model: () => held.opened.then(() => say('done')), policy: {}, dataConverter });
    const ref = '0'.repeat(64);
    const run = await start(on);
    await until(async () => (await run.progress()).phase === 'model');
    await send(on, run.runId, ['signal', 'steer', [payload('binary/perdure-blob', ref)]]);
    await until(async () => (await run.events()).some(({ type }) => type === 'steer.refused'), 'a refusal');
    expect((await run.events()).find(({ type }) => type === 'steer.refused')).toMatchObject({
      reason: expect.stringContaining(`BLOB_MISSING ${ref}`),
    });
    await run.handle.signal('cancel', {});
    held.open();
    expect(await run.result()).toMatchObject({ reason: 'cancelled' });
    expect(await failedTasks(run.handle.client, run.runId)).toEqual([]);
    const other = await startRaw(on, [payload('binary/perdure-blob', ref)]);
    const ended = await other.result().catch((error: Error & { cause?: unknown }) => error.cause);
    expect(ended).toMatchObject({ type: 'Input.Invalid', message: expect.stringContaining(`BLOB_MISSING ${ref}`) });
  });
});

type Sent = readonly [kind: 'signal' | 'update' | 'query', name: string, payloads: Payload[]];

/** Sends payloads as they are. The server or the run may refuse them. */
async function send({ client }: AgentWorker, workflowId: string, [kind, name, given]: Sent): Promise<void> {
  const { workflowService: service } = client;
  const to = { namespace: 'default', workflowExecution: { workflowId } };
  const input = { payloads: given };
  try {
    if (kind === 'signal') await service.signalWorkflowExecution({ ...to, signalName: name, input, requestId: randomUUID() });
    else if (kind === 'query') {
      await service.queryWorkflow({ namespace: 'default', execution: { workflowId }, query: { queryType: name, queryArgs: input } });
    } else {
      const request = { meta: { updateId: randomUUID() }, input: { name, args: input } };
      await service.updateWorkflowExecution({
        ...to,
        request,
        waitPolicy: { lifecycleStage: Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ACCEPTED },
      });
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}

async function startRaw({ client, taskQueue }: AgentWorker, given: Payload[]): Promise<TestRun> {
  const workflowId = `run-${randomUUID()}`;
  await client.workflowService.startWorkflowExecution({
    namespace: 'default',
    workflowId,
    workflowType: { name: 'agentRun' },
    taskQueue: { name: taskQueue },
    input: { payloads: given },
    requestId: randomUUID(),
  });
  return testRun(client.workflow.getHandle(workflowId));
}
