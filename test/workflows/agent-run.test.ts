import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Progress, RunInput, RunResult, TranscriptPage } from '../../src/contracts/run.js';
import { defineTool } from '../../src/define/define-tool.js';
import { type AgentWorker, type AgentWorkerOptions, call, say, startAgentWorker } from '../support/agent-worker.js';

const echo = defineTool({
  name: 'echo',
  description: 'Says it again.',
  parameters: z.strictObject({ text: z.string() }),
  effect: 'read',
  execute: ({ text }) => text,
});

describe('agentRun', () => {
  const workers: AgentWorker[] = [];
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  });

  async function worker(options: AgentWorkerOptions): Promise<AgentWorker> {
    const started = await startAgentWorker(options);
    workers.push(started);
    return started;
  }

  async function start(on: AgentWorker, input: Partial<RunInput> = {}) {
    return on.client.workflow.start('agentRun', {
      taskQueue: on.taskQueue,
      workflowId: `run-${randomUUID()}`,
      args: [{ task: 'do it', ...input }],
    });
  }

  it('a run whose model answers with text completes with that text after one turn', async () => {
    const on = await worker({ model: () => say('done') });
    const result: RunResult = await (await start(on)).result();
    expect(result).toMatchObject({ v: 1, reason: 'completed', output: 'done', turns: 1, toolCalls: 0, models: ['fake/model'] });
  });

  it('a tool call is answered before the next request, and its result is what the model reads', async () => {
    const on = await worker({ model: (_, n) => (n === 1 ? call(['echo', { text: 'hello' }]) : say('heard')), tools: [echo] });
    const result: RunResult = await (await start(on)).result();
    expect(result).toMatchObject({ reason: 'completed', output: 'heard', turns: 2, toolCalls: 1 });
    const last = on.requests[1]?.messages.at(-1);
    expect(last).toMatchObject({ role: 'tool', parts: [{ type: 'tool_result', isError: false, parts: [{ type: 'text', text: 'hello' }] }] });
  });

  it('the finalise warning is in exactly one request: the first with three turns left', async () => {
    const on = await worker({ model: (request) => (request.toolChoice === 'none' ? say('final') : call(['echo', { text: String(Math.random()) }])), tools: [echo] });
    const result: RunResult = await (await start(on, { maxTurns: 6 })).result();
    expect(result).toMatchObject({ reason: 'max_turns', output: 'final', finalized: true, turns: 6 });
    const warned = on.requests.map((request) => request.messages.filter((message) => message.id === 'finalise-warning').length);
    expect(warned).toEqual([0, 0, 0, 1, 0, 0, 0]);
  });

  it('queries answer after the run has ended', async () => {
    const on = await worker({ model: () => say('done') });
    const handle = await start(on);
    const result: RunResult = await handle.result();
    const page = await handle.query<TranscriptPage, [object]>('transcript', { from: 0 });
    expect(page.messages.map((message) => message.role)).toEqual(['user', 'assistant']);
    expect(await handle.query<Progress>('progress')).toMatchObject({ status: 'completed', phase: 'closed', turn: 1 });
    expect(await handle.query('result')).toEqual(result);
  });
});
