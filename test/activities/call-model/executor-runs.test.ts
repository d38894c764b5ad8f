import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { z } from 'zod';
import { toolCallsOf } from '../../../src/contracts/message-text.js';
import type { Progress, RunInput } from '../../../src/contracts/schemas/run.js';
import { type Config, defineConfig } from '../../../src/define/define-config.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { createAgentActivities } from '../../../src/worker/create-worker.js';
import { childArgs } from '../../providers/support/executor-child.js';
import { killMarked } from '../../providers/support/kill-marked.js';
import { createTestWorker } from '../../support/test-worker.js';
import { bareTool } from '../../support/tools/sample-tools.js';
import { type TestRun, testRun, until } from '../../support/use-workers.js';
import { liveProcesses } from '../../tools/support/live-processes.js';

/** Asks for two calls, of which one needs a person, then repeats what it was told. */
const CAREFUL = `
  const { task } = await next();
  say({ type: 'text', text: 'I look.' });
  say({ type: 'usage', inputTokens: 100, outputTokens: 10 });
  call({ id: 'a', name: 'look_up', args: { word: task } }, { id: 'b', name: 'deploy', args: {} });
  const { results } = await next();
  say({ type: 'usage', inputTokens: 50, outputTokens: 5 });
  say({ type: 'final', text: results.map(({ callId, isError, text }) => [callId, isError, text].join(' ')).join('; ') });
`;

const lookUp = defineTool({
  name: 'look_up',
  description: 'Looks a word up.',
  parameters: z.strictObject({ word: z.string() }),
  effect: 'read',
  execute: ({ word }) => `${word}: known`,
});

const deploy = bareTool('deploy', () => 'live', { approval: 'always' });

describe('a run whose agent is a child process', () => {
  let marker: string;
  let stateDir: string;
  const stops: (() => Promise<void>)[] = [];
  beforeEach(async () => {
    marker = `executor-runs-${randomUUID()}`;
    stateDir = await mkdtemp(join(tmpdir(), 'perdure-executor-'));
  });
  afterEach(async () => {
    await Promise.all(stops.splice(0).map((stop) => stop()));
    await killMarked(marker);
    await rm(stateDir, { recursive: true, force: true });
  });

  test('its calls go through the pipeline like those of a model: approval, results, usage, turns', async () => {
    const run = await start(crew(CAREFUL), { task: 'tide', agent: 'crew' });
    await until(async () => (await run.progress()).pendingApprovals === 1, 'the call that waits');
    await run.handle.executeUpdate('approve', { args: [{ callId: await callIdOf(run, 'deploy') }] });
    const result = await run.result();
    expect(result).toMatchObject({
      reason: 'completed',
      output: 'a false tide: known; b false live',
      turns: 2,
      toolCalls: 2,
      models: ['subprocess/crew'],
      usage: { inputTokens: 150, outputTokens: 15 },
      costUsd: 0,
    });
    expect((await run.messages()).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'assistant']);
  });

  test('the activity has the time of the executor, and its own error comes before it is over', async () => {
    const run = await start(crew(`await next(); await wait();`, { timeoutMs: 2_000 }), { task: 'go', agent: 'crew' });
    await expect(run.result()).rejects.toMatchObject({
      cause: { type: 'Executor.Failed', message: expect.stringContaining('no answer for 2 s') },
    });
    const { events } = await run.handle.fetchHistory();
    const scheduled = (events ?? [])
      .map((event) => event.activityTaskScheduledEventAttributes)
      .filter((attributes) => attributes?.activityType?.name === 'callModel');
    expect(scheduled.map((attributes) => Number(attributes?.startToCloseTimeout?.seconds))).toEqual([22]);
  });

  test('a crash is a failed run that names the agent, the exit code and what it said, with one attempt', async () => {
    const run = await start(crew(`await next(); console.error('no such model'); process.exit(3);`), { task: 'go', agent: 'crew' });
    await expect(run.result()).rejects.toMatchObject({
      cause: {
        type: 'Executor.Failed',
        details: [
          {
            reason: 'error',
            error: {
              type: 'Executor.Failed',
              message: expect.stringContaining('exit code 3 before it answered; stderr: no such model'),
              turn: 1,
            },
          },
        ],
      },
    });
  });

  test('a message to the live run is read by the child with the results, and a cancel ends the child', async () => {
    const body = `
      await next();
      call({ name: 'deploy' });
      const { text } = await next();
      await next();
      say({ type: 'text', text: 'heard: ' + text });
      await wait();
    `;
    const run = await start(crew(body), { task: 'go', agent: 'crew' });
    await until(async () => (await run.progress()).pendingApprovals === 1, 'the call that waits');
    await run.handle.signal('steer', { text: 'be quick' });
    await run.handle.executeUpdate('deny', { args: [{ callId: await callIdOf(run, 'deploy'), reason: 'not today' }] });
    await until(async () => (await run.handle.query<Progress>('progress')).turn === 2, 'the second turn');
    await until(async () => await hasHeard(run), 'the words of the child');
    await run.handle.signal('cancel', { reason: 'enough' });
    const result = await run.result();
    expect(result).toMatchObject({ reason: 'cancelled', output: 'heard: be quick' });
    expect(await liveProcesses(marker)).toEqual([]);
  });

  test('children that wait for results end soon after their runs, long before their idle time: one cancelled, one terminated', async () => {
    const config = crew(`await next(); call({ name: 'deploy' }); await wait();`);
    const input = { task: 'go', agent: 'crew' };
    const [cancelled, terminated] = await Promise.all([start(config, input), start(config, input)]);
    for (const run of [cancelled, terminated])
      await until(async () => (await run.progress()).pendingApprovals === 1, 'the call that waits');
    expect((await liveProcesses(marker)).length).toBeGreaterThanOrEqual(2);
    await cancelled.handle.signal('cancel', { reason: 'enough' });
    // of this end no worker is told
    await terminated.handle.terminate('enough');
    await until(async () => (await liveProcesses(marker)).length === 0, 'the end of the children');
  });

  test('at its last turn the child is asked to finish, and its answer is the result', async () => {
    const body = `
      await next();
      for (;;) {
        call({ name: 'look_up', args: { word: 'again' } });
        let isOver = false;
        for (let line = await next(); line.type !== 'tool_results'; line = await next()) isOver ||= line.type === 'finish';
        if (isOver) return say({ type: 'final', text: 'what I have' });
      }
    `;
    const run = await start(crew(body), { task: 'go', agent: 'crew', maxTurns: 3 });
    expect(await run.result()).toMatchObject({ reason: 'max_turns', output: 'what I have', finalized: true, turns: 3 });
  });

  test('a stub answers without a model, at no cost', async () => {
    const config = defineConfig({
      agents: { fixed: { description: 'Fixed.', prompt: 'x', executor: { kind: 'stub', answer: 'forty-two' } } },
    });
    const run = await start(config, { task: 'go', agent: 'fixed' });
    expect(await run.result()).toMatchObject({
      reason: 'completed',
      output: 'forty-two',
      models: ['stub/fixed'],
      costUsd: 0,
      usage: { inputTokens: 0, outputTokens: 0 },
    });
  });

  function crew(body: string, more: { readonly timeoutMs?: number; readonly resume?: boolean } = {}): Config {
    const executor = { kind: 'subprocess', command: process.execPath, args: childArgs(body, marker), ...more } as const;
    return defineConfig({ tools: [lookUp, deploy], agents: { crew: { description: 'A crew.', prompt: 'Be brief.', executor } } });
  }

  async function start(config: Config, input: RunInput): Promise<TestRun> {
    const address = inject('temporalAddress');
    const taskQueue = `executors-${randomUUID()}`;
    const [connection, nativeConnection] = await Promise.all([Connection.connect({ address }), NativeConnection.connect({ address })]);
    const loaded = { config, file: undefined, keys: captureKeys({}), env: {}, hash: 'test' };
    const worker = await createTestWorker({
      connection: nativeConnection,
      taskQueue,
      workflowBundle: { codePath: inject('workflowBundlePath') },
      activities: createAgentActivities({ config: loaded, stateDir, searchAttributes: [] }),
      maxHeartbeatThrottleInterval: 500,
    });
    const running = worker.run();
    stops.push(async () => {
      worker.shutdown();
      await running;
      await nativeConnection.close();
      await connection.close();
    });
    return testRun(await new Client({ connection }).workflow.start('agentRun', { taskQueue, workflowId: randomUUID(), args: [input] }));
  }
});

/** The heartbeat shows operators what was streamed last. */
async function hasHeard(run: TestRun): Promise<boolean> {
  const { raw } = await run.handle.describe();
  const beats = (raw.pendingActivities ?? []).flatMap(({ heartbeatDetails }) => heartbeatDetails?.payloads ?? []);
  return beats.some(({ data }) => Buffer.from(data ?? []).includes('heard'));
}

async function callIdOf(run: TestRun, tool: string): Promise<string | undefined> {
  const messages = await run.messages();
  return messages.flatMap(toolCallsOf).find(({ name }) => name === tool)?.callId;
}
