import { randomUUID } from 'node:crypto';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { Client, type Connection } from '@temporalio/client';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { describe, expect, it } from 'vitest';
import { createRecallTurns, type RecallTurns, type WantedTurns } from '../../../src/activities/prepare/offer/last-turns.js';
import { createPrepareRun } from '../../../src/activities/prepare/prepare-run.js';
import { RECALL_LEVEL } from '../../../src/contracts/capability-level.js';
import { MEMORY_LIMITS } from '../../../src/contracts/constants/limits.js';
import { textOf } from '../../../src/contracts/message-text.js';
import type { Message } from '../../../src/contracts/schemas/message.js';
import type { RunInput } from '../../../src/contracts/schemas/run.js';
import type { MemoryDefinition } from '../../../src/define/worker/memory.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import type { ModelAnswer, ModelRequest } from '../../../src/providers/contract/provider.js';
import { type AgentWorker, call, say } from '../../support/agent-worker.js';
import { castConfig, delegate } from '../../support/subagents/cast.js';
import { latch, type TestRun, until, useWorkers } from '../../support/use-workers.js';

const texts = ({ messages }: ModelRequest): string[] => messages.map((message) => `${message.role}: ${textOf(message)}`);

/** Waits until the server lists a run as closed. */
async function listed({ client: { workflow } }: AgentWorker, { runId }: TestRun): Promise<void> {
  const query = `WorkflowId = '${runId}' AND ExecutionStatus = 'Completed'`;
  await until(async () => (await workflow.count(query)).count === 1, 'the run in the list');
}

/** A model that answers nothing. */
const hangs = ({ signal }: ModelRequest): Promise<ModelAnswer> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true }));

/** Prepares a run of a config with `lastTurns`. */
const prepare = (recallTurns: RecallTurns, level: number) =>
  createPrepareRun({
    config: { model: 'scripted/x', memory: { lastTurns: 2 } },
    configHash: 'h',
    keys: captureKeys({}),
    env: {},
    workspaceTools: [],
    searchAttributes: [],
    recallTurns,
  })({ runId: 'r', input: { task: 'two', context: { channel: 'slack' } }, level });

/** Encrypts nothing, but reads only what was written with its key, and plain payloads. */
class KeyedCodec implements PayloadCodec {
  readonly #key: Uint8Array;

  constructor(key: string) {
    this.#key = Buffer.from(key);
  }

  encode(payloads: Payload[]): Promise<Payload[]> {
    const metadata = { encoding: Buffer.from('binary/keyed'), key: this.#key };
    return Promise.resolve(payloads.map((payload) => ({ metadata, data: temporal.api.common.v1.Payload.encode(payload).finish() })));
  }

  decode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.resolve(payloads.map((payload) => this.#decoded(payload)));
  }

  #decoded(payload: Payload): Payload {
    const { metadata, data } = payload;
    const key = metadata?.['key'];
    if (!key || !data) return payload;
    if (!this.#key.every((byte, index) => byte === key[index])) throw new Error('no such key');
    return temporal.api.common.v1.Payload.decode(data);
  }
}

/** A connection to a server that still lists a run whose history it has deleted. */
function listingDeleted(connection: Connection): Connection {
  const { workflowService } = connection;
  const listWorkflowExecutions = async (request: object) => {
    const { executions, ...rest } = await workflowService.listWorkflowExecutions(request);
    const deleted = executions.map((info) => ({ ...info, execution: { workflowId: 'deleted', runId: randomUUID() } }));
    return { ...rest, executions: [...deleted.slice(0, 1), ...executions] };
  };
  const service = Object.create(workflowService, { listWorkflowExecutions: { value: listWorkflowExecutions } }) as unknown;
  return Object.create(connection, { workflowService: { value: service } }) as Connection;
}

describe('memory.lastTurns', { timeout: 60_000 }, () => {
  const { worker, start } = useWorkers();

  /** Answers each task with `re: TASK`. */
  async function desk(memory: MemoryDefinition | undefined, more: object = {}): Promise<AgentWorker> {
    const config = castConfig({ desk: {}, other: {} }, memory === undefined ? {} : { memory });
    return await worker({ config, model: (request) => say(`re: ${texts(request).at(-1)?.slice('user: '.length)}`), ...more });
  }

  /** Runs a task to its end, and until the server lists it. */
  async function ask(on: AgentWorker, task: string, input: Partial<RunInput> = {}): Promise<TestRun> {
    const run = await start(on, { agent: 'desk', task, ...input });
    await run.result();
    await listed(on, run);
    return run;
  }

  it('C-26: a run begins with the last N turns of its agent and channel, the oldest first, and says whose they are', async () => {
    const on = await desk({ lastTurns: 2 });
    const slack = { context: { channel: 'slack' } };
    await ask(on, 'one', slack);
    const second = await ask(on, 'two', slack);
    const third = await ask(on, 'three', slack);
    await ask(on, 'elsewhere', { context: { channel: 'mail' } });
    await ask(on, 'nowhere');
    await ask(on, 'of another', { ...slack, agent: 'other' });
    const run = await ask(on, 'four', slack);
    const seen = on.requests.at(-1);
    expect(seen && texts(seen)).toEqual(['user: two', 'assistant: re: two', 'user: three', 'assistant: re: three', 'user: four']);
    // what was recalled is in the transcript
    expect((await run.messages()).map(textOf)).toEqual(['two', 're: two', 'three', 're: three', 'four', 're: four']);
    expect(await run.events()).toContainEqual(
      expect.objectContaining({ type: 'notice', text: `begins with 2 turns of earlier runs: ${second.runId}, ${third.runId}` }),
    );
  });

  it('C-26: threads share the turns of their channel, and a number of the channel overrides the one of the config', async () => {
    const on = await desk({ lastTurns: 5, channels: { slack: { lastTurns: 1 }, mail: { lastTurns: 0 } } });
    await ask(on, 'one', { context: { channel: 'slack:thread:17' } });
    await ask(on, 'two', { context: { channel: 'slack' } });
    await ask(on, 'three', { context: { channel: 'slack:thread:18' } });
    expect(texts(on.requests.at(-1) as ModelRequest)).toEqual(['user: two', 'assistant: re: two', 'user: three']);
    await ask(on, 'four', { context: { channel: 'mail' } });
    await ask(on, 'five', { context: { channel: 'mail' } });
    expect(texts(on.requests.at(-1) as ModelRequest)).toEqual(['user: five']);
  });

  it('C-26, D-09: without lastTurns each task starts fresh', async () => {
    for (const memory of [undefined, {}, { lastTurns: 0 }]) {
      const on = await desk(memory);
      await ask(on, 'one');
      await ask(on, 'two');
      expect(texts(on.requests.at(-1) as ModelRequest)).toEqual(['user: two']);
    }
  });

  it('C-26: a run with a conversation of its own, another tenant and another workspace get none; a cancelled run leaves none', async () => {
    const hanging = latch();
    const on = await desk({ lastTurns: 5 });
    await ask(on, 'one', { tenant: 'acme' });
    await ask(on, 'two', { tenant: 'globex' });
    expect(texts(on.requests.at(-1) as ModelRequest)).toEqual(['user: two']);
    await ask(on, 'three', { tenant: 'acme', context: { workspace: '/tmp' } });
    expect(texts(on.requests.at(-1) as ModelRequest)).toEqual(['user: three']);
    const messages = [{ id: 'g1', role: 'user' as const, parts: [{ type: 'text' as const, text: 'given' }] }];
    await ask(on, 'four', { tenant: 'acme', messages });
    expect(texts(on.requests.at(-1) as ModelRequest)[0]).toBe('user: given');
    const slow = await desk({ lastTurns: 5 }, { taskQueue: on.taskQueue, model: () => hanging.opened.then(() => say('late')) });
    await on.shutdown();
    const run = await start(slow, { agent: 'desk', task: 'five', tenant: 'globex' });
    await until(async () => (await run.progress()).phase === 'model', 'the model call');
    await run.handle.signal('cancel', {});
    hanging.open();
    expect(await run.result()).toMatchObject({ reason: 'cancelled' });
    await listed(slow, run);
    await ask(slow, 'six', { tenant: 'globex' });
    expect(texts(slow.requests.at(-1) as ModelRequest)).toEqual(['user: two', 'assistant: re: two', 'user: six']);
  });

  it('C-26: a sub-agent starts fresh', async () => {
    const config = castConfig({ lead: { subagents: ['scout'] }, scout: {} }, { memory: { lastTurns: 5 } });
    const seen: string[][] = [];
    const on = await worker({
      config,
      model: (request) => {
        seen.push(texts(request));
        const asks = request.prompt.startsWith('lead') && !request.messages.some(({ role }) => role === 'tool');
        return asks ? call(delegate('scout', 'look')) : say('found');
      },
    });
    await ask(on, 'look', { agent: 'scout' });
    await ask(on, 'go', { agent: 'lead' });
    expect(seen[2]).toEqual(['user: look']);
  });

  it('C-26: another worker, which never saw the run, continues it with the same turns', async () => {
    const on = await desk({ lastTurns: 3 });
    await ask(on, 'one');
    const answers = { model: hangs, shutdownGraceMs: 0, taskQueue: on.taskQueue };
    const first = await desk({ lastTurns: 3 }, answers);
    await on.shutdown();
    const run = await start(first, { agent: 'desk', task: 'two' });
    await until(() => first.requests.length === 1, 'the request');
    await first.shutdown();
    // this one's config would recall nothing
    const second = await desk(undefined, { taskQueue: on.taskQueue, maxCachedWorkflows: 0 });
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 're: two' });
    expect(texts(second.requests.at(-1) as ModelRequest)).toEqual(['user: one', 'assistant: re: one', 'user: two']);
  });

  it('C-26: workflow code before level 11 is given none, and a server that cannot search for agents gives a notice', async () => {
    const asked: WantedTurns[] = [];
    const messages: Message[] = [{ id: 'a/task', role: 'user', parts: [{ type: 'text', text: 'one' }] }];
    const recalling: RecallTurns = (wanted) => {
      asked.push(wanted);
      return Promise.resolve({ messages, notices: [] });
    };
    expect(await prepare(recalling, RECALL_LEVEL - 1)).not.toHaveProperty('recalled');
    expect(asked).toEqual([]);
    expect(await prepare(recalling, RECALL_LEVEL)).toMatchObject({ recalled: messages });
    expect(asked).toEqual([{ agent: 'default', channel: 'slack', tenant: undefined, workspace: undefined, count: 2 }]);
    const blind = await prepare(createRecallTurns({ isSearchable: false }), RECALL_LEVEL);
    expect(blind).not.toHaveProperty('recalled');
    expect(blind.notices).toEqual([expect.stringMatching(/^memory\.lastTurns is not used: .*'perdure doctor --fix'$/u)]);
  });

  it('C-26: runs that cannot be read are left out: with a key that the worker no longer has, and deleted since they were listed', async () => {
    const on = await desk({ lastTurns: 5 }, { dataConverter: { payloadCodecs: [new KeyedCodec('old')] } });
    await ask(on, 'one');
    await on.shutdown();
    const plain = await desk({ lastTurns: 5 }, { taskQueue: on.taskQueue });
    await ask(plain, 'two');
    await plain.shutdown();
    const dataConverter = { payloadCodecs: [new KeyedCodec('new')] };
    const next = await desk({ lastTurns: 5 }, { taskQueue: on.taskQueue, dataConverter });
    const run = await ask(next, 'three');
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(texts(next.requests.at(-1) as ModelRequest)).toEqual(['user: two', 'assistant: re: two', 'user: three']);

    const client = new Client({ connection: listingDeleted(next.client.connection as Connection), dataConverter });
    const workflowExecution = { workflowId: run.runId, runId: (await run.handle.describe()).runId };
    const context = { client, info: { workflowExecution } } as unknown as Context;
    const wanted = { agent: 'desk', channel: undefined, tenant: undefined, workspace: undefined, count: 5 };
    const turns = await asyncLocalStorage.run(context, () => createRecallTurns({ isSearchable: true })(wanted));
    expect(turns.messages.map(textOf)).toEqual(['two', 're: two', 'three', 're: three']);
  });

  it('C-26: long turns are cut with a mark, and the oldest are left out where all are too long', async () => {
    const { turnTextCharsMax: each, turnsCharsMax: all, lastTurnsMax } = MEMORY_LIMITS;
    const on = await desk({ lastTurns: lastTurnsMax });
    const count = Math.ceil(all / (2 * each)) + 1;
    for (let n = 1; n <= count; n += 1) await ask(on, `${n}${'x'.repeat(2 * each)}`);
    const run = await ask(on, 'last');
    const recalled = (await run.messages()).slice(0, -2).map(textOf);
    expect(recalled.length).toBeGreaterThan(2);
    expect(recalled.length).toBeLessThan(2 * count);
    expect(recalled.join('').length).toBeLessThan(all);
    for (const text of recalled) expect(text).toMatch(/\n\[cut after \d+ characters\]$/u);
    expect(recalled.at(-1)?.startsWith(`re: ${count}`)).toBe(true);
  });
});
