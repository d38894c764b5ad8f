import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { AgentClient } from '../../src/client/agent-client.js';
import type { WatchItem } from '../../src/client/watch/watch-run.js';
import { textOf } from '../../src/contracts/message-text.js';
import { defineTool } from '../../src/define/define-tool.js';
import { FileStreamSink } from '../../src/streams/file-stream-sink.js';
import { FileStreamSource } from '../../src/streams/file-stream-source.js';
import { type AgentWorker, call, say, startAgentWorker } from '../support/agent-worker.js';
import { freePort } from '../support/free-port.js';
import { refusalOf } from './support/refusal.js';

let worker: AgentWorker;
let agents: AgentClient;
let streams: string;

/** Lets the answer to a task that says `wait for NAME` come when the test says so. */
const gates = new Map<string, () => void>();
const open = (name: string): Promise<void> => new Promise((resolve) => gates.set(name, resolve));

/** Rejects once a call is cancelled, as a real provider does. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

beforeAll(async () => {
  streams = await mkdtemp(join(tmpdir(), 'perdure-client-'));
  const echo = defineTool({
    name: 'echo',
    description: 'Says it again.',
    parameters: z.object({ text: z.string() }),
    effect: 'read',
    execute: ({ text }) => text,
  });
  worker = await startAgentWorker({
    tools: [echo],
    model: async (request) => {
      const last = request.messages.at(-1);
      const text = last ? textOf(last) : '';
      const gate = /wait for (\S+)/u.exec(text)?.[1];
      if (gate) await Promise.race([open(gate), aborted(request.signal)]);
      if (text === 'review') return say('{ "approved": true, "reason": "tested" }');
      if (text.startsWith('use the tool')) return call(['echo', { text: 'hello' }]);
      return say(`heard: ${text}`);
    },
  });
  agents = await AgentClient.connect({
    address: inject('temporalAddress'),
    taskQueue: worker.taskQueue,
    streams: new FileStreamSource({ folder: streams }),
  });
});
afterAll(async () => {
  await agents.close();
  await worker.stop();
  await rm(streams, { recursive: true, force: true });
});

/** Opens a gate once the model has come to it. */
async function release(name: string): Promise<void> {
  await expect.poll(() => gates.has(name)).toBe(true);
  gates.get(name)?.();
}

describe('AgentClient.start', () => {
  it('D1: takes a schema of zod, and the result has the typed answer; the same schema attaches to the run', async () => {
    const outputSchema = z.strictObject({ approved: z.boolean(), reason: z.string() });
    const input = { task: 'review', outputSchema, id: `review-${randomUUID()}` };
    const { run } = await agents.start(input);
    const { structured } = await run.result();
    expect(structured?.reason.toUpperCase()).toBe('TESTED');
    expect((await agents.start(input)).duplicate).toBe(true);
  });

  it('runs a task to its result', async () => {
    const { run, duplicate, executionId } = await agents.start({ task: 'hello' });
    const result = await run.result();
    expect(result).toMatchObject({ reason: 'completed', output: 'heard: hello', runId: run.runId, executionId, turns: 1 });
    expect(duplicate).toBe(false);
  });

  it('the same id with the same input attaches; with another input it is refused and nothing is started', async () => {
    const id = `twice-${randomUUID()}`;
    const first = await agents.start({ id, task: 'once', maxTurns: 3 });
    const second = await agents.start({ maxTurns: 3, task: 'once', id });
    expect(second).toMatchObject({ duplicate: true, executionId: first.executionId });
    expect(await refusalOf(() => agents.start({ id, task: 'other' }))).toMatchObject({ code: 'RUN_EXISTS', exitCode: 4 });
    await first.run.result();
    expect((await agents.start({ id, task: 'once', maxTurns: 3 })).duplicate).toBe(true);
  });

  it('the Web UI has a summary and details from the first moment, with the task escaped', async () => {
    const { run } = await agents.start({ task: '# not a heading\n<b>{workflowId}</b>', maxTurns: 5 });
    const client = worker.client;
    const described = await client.workflow.getHandle(run.runId).describe();
    expect(await described.staticSummary()).toBe('**default** \\# not a heading \\<b\\>\\{workflowId\\}\\</b\\>');
    expect(await described.staticDetails()).toContain('- turn limit: 5');
    await run.result();
  });

  it('bad input creates nothing', async () => {
    const id = `never-${randomUUID()}`;
    expect(await refusalOf(() => agents.start({ id, task: ' ' }))).toMatchObject({ code: 'EMPTY_MESSAGE' });
    expect(await refusalOf(() => agents.get(id).describe())).toMatchObject({ code: 'RUN_NOT_FOUND', exitCode: 3 });
  });

  it('an input above what a server takes is refused with its size', async () => {
    const messages = Array.from({ length: 4 }, (_, index) => ({
      id: `m${index}`,
      role: 'user' as const,
      parts: [{ type: 'text' as const, text: 'x'.repeat(500_000) }],
    }));
    expect(await refusalOf(() => agents.start({ task: 'x', messages }))).toMatchObject({ code: 'MESSAGE_TOO_LARGE', exitCode: 2 });
  });
});

describe('RunHandle', () => {
  it('steer and submit put messages into a live run, in order; the same id twice is one message', async () => {
    const { run } = await agents.start({ task: 'wait for steer' });
    await expect.poll(() => gates.has('steer')).toBe(true);
    const { id } = await run.steer('first');
    await run.steer({ id, text: 'first' });
    const receipt = await run.submit({ id: 'second-1', text: 'second' });
    expect(receipt).toEqual({ id: 'second-1', accepted: true, position: 1, duplicate: false });
    expect(await run.submit({ id: 'second-1', text: 'second' })).toMatchObject({ duplicate: false, position: 1 });
    await release('steer');
    expect((await run.result()).unconsumed).toEqual([]);
    const texts: string[] = [];
    for await (const page of run.transcript({ bytesMax: 1 })) texts.push(...page.messages.map(textOf));
    expect(texts.filter((text) => text === 'first' || text === 'second')).toEqual(['first', 'second']);
  });

  it('cancel ends a live run, and says of a closed one that it has ended', async () => {
    const { run } = await agents.start({ task: 'wait for cancel' });
    await expect.poll(async () => (await run.progress()).phase).toBe('model');
    expect(await run.cancel({ reason: 'enough' })).toEqual({});
    expect((await run.result()).reason).toBe('cancelled');
    await expect.poll(() => run.cancel()).toEqual({ alreadyClosed: 'cancelled' });
  });

  it('pause and resume reach a live run; extend raises its cap', async () => {
    const { run } = await agents.start({ task: 'wait for pause', maxTurns: 10 });
    await expect.poll(() => gates.has('pause')).toBe(true);
    await run.pause();
    expect(await run.extend({ turns: 5 })).toMatchObject({ maxTurns: 15 });
    await run.steer('after the pause');
    await release('pause');
    await expect.poll(async () => (await run.progress()).status).toBe('paused');
    await run.resume();
    expect((await run.result()).output).toBe('heard: after the pause');
  });

  it('hold and release reach a live run, and steers tells what became of each message, also after the end', async () => {
    const { run } = await agents.start({ task: 'wait for hold' });
    await expect.poll(() => gates.has('hold')).toBe(true);
    await run.hold({ by: 'ann', ttlMs: 60_000 });
    await run.steer({ id: 'hurry', text: 'while it is held', mode: 'preempt', ttlMs: 60_000 });
    expect(await run.steers()).toEqual([{ id: 'hurry', state: 'queued' }]);
    await release('hold');
    await expect.poll(async () => (await run.progress()).waitingFor).toMatch(/^release \(held by ann until /u);
    await run.release();
    expect((await run.result()).output).toBe('heard: while it is held');
    expect(await run.steers()).toEqual([{ id: 'hurry', state: 'delivered', turn: 2 }]);
  });

  it('what needs a live run is refused by a closed one, with the way on', async () => {
    const { run } = await agents.start({ task: 'short' });
    await run.result();
    for (const act of [
      () => run.steer('x'),
      () => run.submit('x'),
      () => run.pause(),
      () => run.resume(),
      () => run.extend({ turns: 1 }),
    ]) {
      expect(await refusalOf(act)).toMatchObject({ code: 'RUN_CLOSED', exitCode: 4, message: expect.stringContaining('continue') });
    }
  });

  it('a run that is not there is not found, whatever is asked of it', async () => {
    const run = agents.get(`missing-${randomUUID()}`);
    for (const act of [
      () => run.steer('x'),
      () => run.submit('x'),
      () => run.cancel(),
      () => run.progress(),
      () => run.result(),
      () => run.continue(),
      () => run.describe(),
    ]) {
      expect(await refusalOf(act)).toMatchObject({ code: 'RUN_NOT_FOUND', exitCode: 3 });
    }
  });

  it('an over-size message is refused and the run lives on', async () => {
    const { run } = await agents.start({ task: 'wait for large' });
    expect(await refusalOf(() => run.submit('x'.repeat(3_000_000)))).toMatchObject({ code: 'MESSAGE_TOO_LARGE' });
    await release('large');
    expect((await run.result()).reason).toBe('completed');
  });

  it('a terminated run has a result too', async () => {
    const { run } = await agents.start({ task: 'wait for terminate' });
    await expect.poll(() => gates.has('terminate')).toBe(true);
    await worker.client.workflow.getHandle(run.runId).terminate('operator said so');
    const result = await run.result();
    expect(result).toMatchObject({ reason: 'error', turns: 1, error: { type: 'Run.Terminated', message: 'operator said so', turn: 1 } });
    await release('terminate');
  });

  it('a run cancelled through Temporal itself has a result too', async () => {
    const { run } = await agents.start({ task: 'wait for temporal' });
    await expect.poll(() => gates.has('temporal')).toBe(true);
    await worker.client.workflow.getHandle(run.runId).cancel();
    expect(await run.result()).toMatchObject({ reason: 'cancelled', turns: 1 });
  });

  it('E-21: steps tell how each turn went, also after the end', async () => {
    const { run } = await agents.start({ task: 'use the tool' });
    await run.result();
    const times = { started: expect.any(Number), ended: expect.any(Number), durationMs: expect.any(Number) };
    const turn = { agent: 'default', status: 'success', group: run.runId, usage: expect.objectContaining({ outputTokens: 5 }), ...times };
    expect(await run.steps()).toEqual([
      { ...turn, index: 0, toolSignature: expect.stringMatching(/^echo#[0-9a-f]{8}$/u) },
      { ...turn, index: 1 },
    ]);
  });

  it('events, usage and setup tell what happened', async () => {
    const { run } = await agents.start({ task: 'use the tool' });
    await run.result();
    const { events } = await run.events({ types: ['tool.call', 'tool.result'] });
    expect(events.map((event) => event.type)).toEqual(['tool.call', 'tool.result']);
    expect((await run.usage()).total).toMatchObject({ inputTokens: 20 });
    expect((await run.setup()).tools.map((tool) => tool.name)).toEqual(['echo']);
  });
});

describe('RunHandle.continue', () => {
  it('goes on as RUN.2 and RUN.3 with the old transcript and the new task', async () => {
    const id = `long-${randomUUID()}`;
    const { run } = await agents.start({ id, task: 'use the tool', maxTurns: 9 });
    await run.result();
    const second = await run.continue({ text: 'go on' });
    expect(second.run.runId).toBe(`${id}.2`);
    expect(await second.run.result()).toMatchObject({ reason: 'completed', output: 'heard: go on' });
    const third = await second.run.continue();
    expect(third.run.runId).toBe(`${id}.3`);
    expect((await third.run.result()).output).toBe('heard: Continue.');
    expect((await third.run.progress()).maxTurns).toBe(9);
    const texts: string[] = [];
    for await (const page of third.run.transcript()) texts.push(...page.messages.map(textOf));
    expect(texts).toEqual(['use the tool', '', '', 'heard: ', 'go on', 'heard: go on', 'Continue.', 'heard: Continue.']);
    expect((await run.continue()).run.runId).toBe(`${id}.4`);
  });

  it('a chat goes on as a chat, unless the continuation says otherwise', async () => {
    const { run } = await agents.start({ id: `chat-${randomUUID()}`, task: 'use the tool', mode: 'chat' });
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 1, toolCalls: 0 });
    const second = await run.continue({ text: 'use the tool again' });
    expect(await second.run.result()).toMatchObject({ reason: 'completed', turns: 1, toolCalls: 0 });
    const third = await second.run.continue({ text: 'use the tool now', mode: 'dispatch' });
    expect(await third.run.result()).toMatchObject({ reason: 'completed', turns: 2, toolCalls: 1 });
  });

  it('a run that went through continue-as-new is still known by its input, and keeps its options', async () => {
    const id = `carried-${randomUUID()}`;
    const input = { id, task: 'use the tool', maxTurns: 9, bounds: { continueAsNewEvents: 20 } };
    const { run, executionId } = await agents.start(input);
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect((await run.describe()).executionId).not.toBe(executionId);
    expect(await agents.start(input)).toMatchObject({ duplicate: true });
    expect(await run.describe()).toMatchObject({ task: 'use the tool', maxTurns: 9, agent: 'default', model: 'fake/model' });
  });

  it('a run that has not ended is refused', async () => {
    const { run } = await agents.start({ task: 'wait for open' });
    expect(await refusalOf(() => run.continue())).toMatchObject({ code: 'RUN_OPEN', exitCode: 4 });
    await release('open');
    await run.result();
  });

  it('a run that was started by its workflow name, without a memo, keeps its options', async () => {
    const workflowId = `foreign-${randomUUID()}`;
    const handle = await worker.client.workflow.start('agentRun', {
      workflowId,
      taskQueue: worker.taskQueue,
      args: [{ task: 'hi', maxTurns: 7 }],
    });
    await handle.result();
    const { run } = await agents.get(workflowId).continue();
    await run.result();
    expect((await run.progress()).maxTurns).toBe(7);
  });
});

describe('RunHandle.watch', () => {
  it('gives events in order, tokens as they come, and the result last', async () => {
    const { run } = await agents.start({ task: 'use the tool' });
    const sink = new FileStreamSink({ folder: streams });
    const where = { runId: run.runId, turn: 1, attempt: 1, epoch: 1_000 };
    sink.publish({ ...where, seq: 1, type: 'reset' });
    sink.publish({ ...where, seq: 2, type: 'text', text: 'token' });
    await sink.flush(run.runId);
    const items: WatchItem[] = [];
    for await (const item of run.watch()) items.push(item);
    expect(items.at(-1)).toMatchObject({ type: 'result', result: { reason: 'completed' } });
    expect(items.filter((item) => item.type === 'result')).toHaveLength(1);
    const seqs = items.flatMap((item) => (item.type === 'event' ? [item.event.seq] : []));
    expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, index) => index + 1));
    expect(items.findLast((item) => item.type === 'event')).toMatchObject({ event: { type: 'run.ended' } });
    const tokens = items.flatMap((item) => (item.type === 'stream' ? item.event : []));
    expect(tokens).toMatchObject([{ type: 'reset' }, { text: 'token' }]);
    const resumed: WatchItem[] = [];
    for await (const item of run.watch({ streamAfter: tokens[0]?.id ?? '' })) resumed.push(item);
    expect(resumed.filter((item) => item.type === 'stream')).toEqual([{ type: 'stream', event: tokens[1] }]);
  });

  it('stops without a result when its signal aborts, and the run goes on', async () => {
    const { run } = await agents.start({ task: 'wait for detach' });
    const stop = new AbortController();
    for await (const item of run.watch({ signal: stop.signal })) {
      expect(item.type).not.toBe('result');
      stop.abort();
    }
    await release('detach');
    expect((await run.result()).reason).toBe('completed');
  });

  it('a closed run gives its events and its result at once', async () => {
    const { run } = await agents.start({ task: 'done before' });
    await run.result();
    const types: string[] = [];
    for await (const item of run.watch()) types.push(item.type);
    expect(types.filter((type) => type === 'event').length).toBeGreaterThan(3);
    expect(types.at(-1)).toBe('result');
  });
});

describe('AgentClient.list', () => {
  it('shows the runs of its queue, newest first, with task and status', async () => {
    const { run } = await agents.start({ task: 'find me in the list', agent: 'default' });
    await run.result();
    await expect
      .poll(async () => (await agents.list({ status: 'closed', limit: 5 })).find((item) => item.runId === run.runId))
      .toMatchObject({ status: 'completed', task: 'find me in the list', agent: 'default' });
    await expect(agents.list({ limit: 0 })).rejects.toMatchObject({ code: 'BAD_OPTION' });
  });
});

// these wait until a time is over, side by side
describe.concurrent('without a worker', () => {
  it('start is kept, steer is kept, submit is refused with NO_WORKER and never delivered', { timeout: 60_000 }, async () => {
    const taskQueue = `nobody-${randomUUID()}`;
    const lonely = await AgentClient.connect({ address: inject('temporalAddress'), taskQueue });
    try {
      expect(await lonely.hasPoller()).toBe(false);
      const { run } = await lonely.start({ task: 'patience' });
      await run.steer('kept');
      const before = Date.now();
      expect(await refusalOf(() => run.submit({ id: 'lost', text: 'lost' }))).toMatchObject({
        code: 'NO_WORKER',
        exitCode: 5,
        message: `no worker polls queue ${taskQueue} (checked 5 s); not accepted; send again with the same id lost`,
      });
      expect(Date.now() - before).toBeLessThan(20_000);
      expect(await run.describe()).toMatchObject({ status: 'running', open: true, task: 'patience' });
      const late = await startAgentWorker({ taskQueue, model: (request) => say(request.messages.map(textOf).join('|')) });
      try {
        const { output, unconsumed } = await run.result();
        expect(output).toBe('patience|kept');
        expect(unconsumed).toEqual([]);
      } finally {
        await late.stop();
      }
    } finally {
      await lonely.close();
    }
  });
});

describe.concurrent('AgentClient.connect', () => {
  it('nothing listens: TEMPORAL_UNREACHABLE within 6 s', async () => {
    const port = await freePort();
    const before = Date.now();
    expect(await refusalOf(() => AgentClient.connect({ address: `127.0.0.1:${port}` }))).toMatchObject({
      code: 'TEMPORAL_UNREACHABLE',
      exitCode: 5,
      message: expect.stringMatching(/^127\.0\.0\.1:\d+ \(tls=off\)/u),
    });
    expect(Date.now() - before).toBeLessThan(20_000);
  });

  it('TLS to a server that speaks none: TEMPORAL_UNREACHABLE says tls=on', async () => {
    expect(await refusalOf(() => AgentClient.connect({ address: inject('temporalAddress'), tls: true }))).toMatchObject({
      code: 'TEMPORAL_UNREACHABLE',
      message: expect.stringContaining('(tls=on)'),
    });
  });

  it('an unknown namespace is named', async () => {
    const client = await AgentClient.connect({ address: inject('temporalAddress'), namespace: 'nowhere' });
    expect(await refusalOf(() => client.checkServer())).toMatchObject({ code: 'NAMESPACE_NOT_FOUND', exitCode: 3 });
    expect(await refusalOf(() => client.start({ task: 'x' }))).toMatchObject({ code: 'NAMESPACE_NOT_FOUND', exitCode: 3 });
    await client.close();
  });

  it('takes a connection of the caller and leaves it open', async () => {
    const connection = await Connection.connect({ address: inject('temporalAddress') });
    const client = await AgentClient.connect({ connection, taskQueue: worker.taskQueue });
    await client.close();
    await expect(new Client({ connection }).workflow.count()).resolves.toMatchObject({ count: expect.any(Number) });
    await connection.close();
  });
});
