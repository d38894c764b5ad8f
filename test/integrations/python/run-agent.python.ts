import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { textOf } from '../../../src/contracts/message-text.js';
import type { Message } from '../../../src/contracts/schemas/message.js';
import type { TranscriptPage } from '../../../src/contracts/schemas/page.js';
import type { Progress, Receipt, RunResult } from '../../../src/contracts/schemas/run.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { createDataConverter } from '../../../src/worker/data-converter.js';
import { executionsOf, LONG_RUN_INPUT, LONG_RUN_MS_MAX, LONG_RUN_TURNS, longRunOptions } from '../../e2e/support/long-run.js';
import { type AgentWorker, call, say } from '../../support/agent-worker.js';
import { latch, until, untilAborted, useWorkers } from '../../support/use-workers.js';

const SCRIPT = fileURLToPath(new URL('run_agent.py', import.meta.url));

/** What the Python program prints. */
interface Said {
  readonly receipt?: Receipt;
  readonly again?: Receipt;
  readonly progress: Progress;
  readonly result: RunResult;
  readonly transcript: TranscriptPage;
}

/** What it prints of a long run. */
interface LongRunSaid {
  readonly result: RunResult;
  readonly messages: number;
  readonly continued: RunResult;
}

/** Twelve results of one turn are half a megabyte. */
const big = defineTool({
  name: 'big',
  description: 'Answers at length.',
  parameters: z.strictObject({ n: z.number() }),
  effect: 'read',
  execute: ({ n }) => `${n} ${'x'.repeat(45_000)}`,
});

describe('a Python client', () => {
  const { worker, start } = useWorkers();

  it('starts agentRun by name with plain JSON, steers it, and reads its result', async () => {
    const steered = latch();
    const on = await worker({
      model: async ({ messages }, n) => {
        if (n === 1) await steered.opened;
        return say(n === 1 ? 'listening' : `heard: ${messages.map(lineOf).slice(-2).join(' and ')}`);
      },
    });
    const runId = `python-${randomUUID()}`;
    const program = runAgent(on, runId, 'steer');
    await until(() => hasMessagesWaiting(on, runId, 2), 'both messages in the inbox');
    steered.open();
    const said = await program;
    expect(said.receipt).toEqual({ id: 'second', accepted: true, position: 1, duplicate: false });
    expect(said.again).toMatchObject({ id: 'second', accepted: true, duplicate: true });
    expect(said.progress).toMatchObject({ status: 'running', phase: 'model', turn: 1, maxTurns: 5, inbox: 0 });
    expect(said.result).toMatchObject({ v: 1, runId, reason: 'completed', turns: 2, unconsumed: [] });
    expect(said.result.output).toBe('heard: steered from python and submitted from python');
    expect(said.transcript.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'user', 'assistant']);
  });

  it.each<[what: string, turns: number]>([
    ['inline', 2],
    ['compressed', 4],
  ])('A10: follows a run that carries a large state over: %s', async (_what, turns) => {
    const artifactsDir = await mkdtemp(join(tmpdir(), 'perdure-artifacts-'));
    onTestFinished(() => rm(artifactsDir, { recursive: true, force: true }));
    const gate = latch();
    const on = await worker({
      model: async (_, n) => {
        if (n === turns) await gate.opened;
        return n <= turns ? call(...Array.from({ length: 12 }, (__, at) => ['big', { n: n * 12 + at }] as const)) : say('ok');
      },
      tools: [big],
      dataConverter: createDataConverter({ artifactsDir }),
    });
    const run = await start(on, { maxTurns: turns + 5, bounds: { continueAsNewEvents: 20 } });
    const program = runAgent(on, run.runId, 'follow');
    await until(async () => (await run.progress()).turn === turns, 'the last turn with calls');
    gate.open();
    expect((await program).result).toMatchObject({ runId: run.runId, reason: 'completed', turns: turns + 1, output: 'ok' });
  });

  it('A10: reads result and transcript of a run of hundreds of turns with results of 8 KiB, and continues it', {
    timeout: LONG_RUN_MS_MAX,
  }, async ({ annotate }) => {
    const artifactsDir = await mkdtemp(join(tmpdir(), 'perdure-artifacts-'));
    onTestFinished(() => rm(artifactsDir, { recursive: true, force: true }));
    const on = await worker({ ...longRunOptions(128_000), dataConverter: createDataConverter({ artifactsDir }) });
    const run = await start(on, LONG_RUN_INPUT);
    const { result, messages, continued } = await runAgent<LongRunSaid>(on, run.runId, 'long');
    expect(result).toMatchObject({ reason: 'completed', output: 'done', turns: LONG_RUN_TURNS });
    expect(continued).toMatchObject({ reason: 'completed', output: `the last was ${LONG_RUN_TURNS - 1}`, turns: 1 });
    const { count, events, bytes } = await executionsOf(on.client.workflow, run.runId);
    expect(count).toBeGreaterThan(1);
    await annotate(`${result.turns} turns; ${count} executions, ${events} events, ${bytes} bytes of history; ${messages} messages read`);
  });

  it('cancels a run with a signal and reads why it ended', async () => {
    const on = await worker({ model: ({ signal }) => untilAborted(signal) });
    const runId = `python-${randomUUID()}`;
    const { result } = await runAgent(on, runId, 'cancel');
    expect(result).toMatchObject({ v: 1, runId, reason: 'cancelled', unconsumed: [] });
  });
});

async function runAgent<T = Said>(on: AgentWorker, runId: string, what: 'steer' | 'cancel' | 'follow' | 'long'): Promise<T> {
  const args = [SCRIPT, inject('temporalAddress'), on.taskQueue, runId, what];
  const { stdout } = await promisify(execFile)(python(), args, { timeout: what === 'long' ? LONG_RUN_MS_MAX : 50_000 });
  // the program is ours, and prints exactly this
  return JSON.parse(stdout) as T;
}

/** A Python with the Temporal SDK; there is no other way to run this test, so it fails without. */
function python(): string {
  const named = process.env['PERDURE_TEST_PYTHON'];
  if (named) return named;
  throw new Error(
    'PERDURE_TEST_PYTHON: name a Python that has the package temporalio (python3 -m venv DIR && DIR/bin/pip install temporalio)',
  );
}

async function hasMessagesWaiting(on: AgentWorker, runId: string, count: number): Promise<boolean> {
  const handle = on.client.workflow.getHandle(runId);
  // the program may not have started the run yet
  const progress = await handle.query<Progress>('progress').catch(() => undefined);
  return progress?.inbox === count;
}

function lineOf(message: Message): string {
  return textOf(message);
}
