import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { RunInput, RunResult } from '../../../src/contracts/schemas/run.js';
import type { Step } from '../../../src/contracts/schemas/step.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import { isPaired } from '../../../src/workflows/policies/transcript/repair-transcript.js';
import { resultTexts } from '../../activities/support/result-texts.js';
import { type AgentWorker, type AgentWorkerOptions, call, say } from '../../support/agent-worker.js';
import { latch, until, untilAborted, useWorkers } from '../../support/use-workers.js';

/** Ends when it is told to, by its signal or by the test. */
function workTool() {
  const started = latch();
  const gate = latch();
  const work = defineTool({
    name: 'work',
    description: 'Takes its time.',
    parameters: z.strictObject({}),
    execute: async (_, { signal }) => {
      started.open();
      await Promise.race([gate.opened, untilAborted(signal)]);
      return 'the work is done';
    },
  });
  return { work, started: started.opened, finish: () => gate.open() };
}

const EXPENSIVE = { inputTokens: 4_000, outputTokens: 1_000, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

describe('a limit that is hit while a tool runs', () => {
  const { worker, start } = useWorkers();

  async function overLimit(input: Partial<RunInput>, { finishes }: { readonly finishes: boolean }) {
    const { work, started, finish } = workTool();
    const on = await worker({
      model: ({ toolChoice, messages }) => {
        if (toolChoice === 'none') return say('This is what I know so far.');
        return messages.some(({ role }) => role === 'tool') ? say('Now all is done.') : { ...call(['work', {}]), usage: EXPENSIVE };
      },
      tools: [work],
      policy: {},
      price: { input: 1_000, output: 1_000 },
    });
    const run = await start(on, input);
    await started;
    if (finishes) finish();
    const result = await run.result();
    const messages = await run.messages();
    // its conversation can be gone on with
    const next = await start(on, { task: 'Continue.', messages });
    expect(await next.result()).toMatchObject({ reason: 'completed', output: 'Now all is done.' });
    expect(isPaired(messages)).toBe(true);
    return { result, result1: resultTexts(messages)[0] };
  }

  it.each<[limit: string, input: Partial<RunInput>, reason: RunResult['reason']]>([
    ['turns', { maxTurns: 1 }, 'max_turns'],
    ['tokens', { maxTokens: 6_000 }, 'budget'],
    ['money', { maxCostUsd: 6 }, 'budget'],
  ])('C12: %s: the tool finishes, and the run ends with its reason and a last text', async (_, input, reason) => {
    const { result, result1 } = await overLimit(input, { finishes: true });
    expect(result).toMatchObject({ reason, turns: 1, toolCalls: 1, output: 'This is what I know so far.', finalized: true });
    expect(result1).toBe('the work is done');
  });

  it('C12: time: the tool is cut and says so, and the run ends with its reason and a last text', async () => {
    const { result, result1 } = await overLimit({ deadlineMs: 5_000 }, { finishes: false });
    expect(result).toMatchObject({ reason: 'deadline', turns: 1, output: 'This is what I know so far.', finalized: true });
    expect(result1).toContain('it may have taken partial effect');
  });
});

describe('how a turn ended', () => {
  const { worker, start } = useWorkers();

  async function stepsOf(
    options: AgentWorkerOptions,
    input: Partial<RunInput> = {},
    act?: (on: AgentWorker, cancel: () => Promise<void>) => Promise<void>,
  ) {
    const on = await worker({ policy: {}, ...options });
    const run = await start(on, input);
    await act?.(on, () => run.handle.signal('cancel', {}));
    await Promise.allSettled([run.result()]);
    const steps = await run.handle.query<Step[]>('steps');
    expect(await run.handle.query<Step[]>('steps')).toEqual(steps);
    return { status: steps.map((step) => step.status), steps, progress: await run.progress() };
  }

  it('E-22: failed, when the model did', async () => {
    const { status, steps } = await stepsOf({
      model: (_, n) => {
        if (n === 1) return call(['nothing', {}]);
        throw new ModelError('Model.Auth', 'the key was refused');
      },
    });
    expect(status).toEqual(['success', 'failed']);
    for (const step of steps) expect(step.durationMs).toBe((step.ended ?? 0) - step.started);
  });

  it.each([
    ['the deadline of the run', (signal: AbortSignal) => untilAborted(signal), { deadlineMs: 1_200 }],
    ['the time of its model', () => Promise.reject(new ModelError('Model.Timeout', 'no answer in time', { retryAfterMs: 500 })), {}],
  ])('E-22: timeout and not failed, when it ran into %s', async (_, model, input) => {
    const { status } = await stepsOf(
      { model: (request) => (request.toolChoice === 'none' ? say('so far') : model(request.signal)) },
      input,
    );
    expect(status).toEqual(['timeout']);
  });

  it('E-22: cancelled, when a person ended it; and no run is both running and ended', async () => {
    const { status, progress } = await stepsOf({ model: ({ signal }) => untilAborted(signal) }, {}, async (on, cancel) => {
      await until(() => on.requests.length === 1, 'the request');
      await cancel();
    });
    expect(status).toEqual(['cancelled']);
    expect(progress).toMatchObject({ status: 'cancelled', phase: 'closed' });
  });
});
