import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Message } from '../../../src/contracts/schemas/message.js';
import type { HookDefinition, HookPoint } from '../../../src/define/define-hook.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import { resultTexts } from '../../activities/support/result-texts.js';
import { call, say } from '../../support/agent-worker.js';
import { useWorkers } from '../../support/use-workers.js';

const LINES = Array.from({ length: 400 }, (_, line) => `line ${line}`).join('\n');

/** A tool and hooks that note when they are asked. */
function noted(log: string[]) {
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    parameters: z.strictObject({ n: z.number() }),
    effect: 'read',
    execute: ({ n }) => {
      log.push(`execute ${n}`);
      return `${LINES}\nlook ${n}`;
    },
  });
  const hook = (on: HookPoint, name: string = on): HookDefinition => ({
    name,
    on,
    run: ({ tool, output }) => {
      log.push([name, tool, ...(on === 'after-tool' ? [output?.length] : [])].filter(Boolean).join(' '));
      return { action: 'allow' };
    },
  });
  return { look, hook };
}

describe('what happens in a turn', () => {
  const { worker, start } = useWorkers();

  it('D-04: compaction, hook, model, hook, then per call hook, tool, hook, cut; the transcript has it in this order', async () => {
    const log: string[] = [];
    const { look, hook } = noted(log);
    const on = await worker({
      model: (_, n) => {
        log.push(`model ${n}`);
        return n <= 2 ? call(['look', { n }]) : say('done');
      },
      tools: [look],
      hooks: [hook('before-model'), hook('after-model'), hook('before-tool'), hook('after-tool')],
      policy: { output: { bytesMax: 2_000 }, compaction: { strategies: ['custom'], keepRecentTokens: 0 } },
      compactor: () => {
        log.push('compact');
        return [{ id: 'short', role: 'user', parts: [{ type: 'text', text: 'one part was read' }] }];
      },
      contextWindow: 2_000,
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'done' });
    const whole = `${LINES}\nlook 1`.length;
    const turn = (n: number) => [
      'before-model',
      `model ${n}`,
      'after-model',
      'before-tool look',
      `execute ${n}`,
      `after-tool look ${whole}`,
    ];
    expect(log).toEqual([...turn(1), ...turn(2), 'compact', 'before-model', 'model 3', 'after-model']);
    const [result] = resultTexts(on.requests[1]?.messages ?? []);
    expect(result?.length).toBeLessThan(whole);
    expect(on.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  });

  it('C4, D-04: a cancel between the answer and its first call is seen before it: neither hook nor tool is asked', async () => {
    const log: string[] = [];
    const { look, hook } = noted(log);
    const on = await worker({
      model: async () => {
        await run.handle.signal('cancel', {});
        return call(['look', { n: 1 }]);
      },
      tools: [look],
      hooks: [hook('before-tool'), hook('after-tool')],
      policy: {},
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'cancelled', toolCalls: 0 });
    expect(log).toEqual([]);
  });

  it('D-05: hooks are asked in the order of their registration; the first that aborts stops the chain and the whole run', async () => {
    const log: string[] = [];
    const { look, hook } = noted(log);
    const abort: HookDefinition = {
      name: 'second',
      on: 'before-model',
      run: () => ({ action: 'abort', reason: 'the budget of the team is spent' }),
    };
    const rewrite: HookDefinition = {
      name: 'friendly',
      on: 'error',
      run: ({ error }) => {
        log.push(`${error?.type}: ${error?.message}`);
        return { action: 'modify', output: 'Something went wrong; we were told.' };
      },
    };
    const on = await worker({
      model: () => say('never'),
      tools: [look],
      hooks: [hook('before-model', 'first'), abort, hook('before-model', 'third'), rewrite],
      policy: {},
    });
    const run = await start(on);
    await expect(run.result()).rejects.toMatchObject({ cause: { type: 'Hook.Aborted', message: 'Something went wrong; we were told.' } });
    expect(log).toEqual(['first', 'Hook.Aborted: aborted by hook second: the budget of the team is spent']);
    expect(on.requests).toHaveLength(0);
  });

  it('D-05: on an error its hook sees it as it was thrown, while the caller reads what the hook makes of it', async () => {
    const seen: unknown[] = [];
    const on = await worker({
      model: () => {
        throw new ModelError('Model.Auth', '401: the key was refused');
      },
      hooks: [
        {
          name: 'friendly',
          on: 'error',
          run: ({ error }) => {
            seen.push(error);
            return { action: 'modify', output: 'The assistant cannot be reached.' };
          },
        },
      ],
      policy: {},
    });
    const run = await start(on);
    await expect(run.result()).rejects.toMatchObject({ cause: { type: 'Model.Auth', message: 'The assistant cannot be reached.' } });
    expect(seen).toEqual([{ type: 'Model.Auth', message: expect.stringContaining('401: the key was refused') }]);
    expect(await run.handle.query('result')).toMatchObject({ error: { message: 'The assistant cannot be reached.' } });
  });

  it('E-07: hooks around a tool are asked about an unknown tool too, and the model reads that there is none', async () => {
    const log: string[] = [];
    const { look, hook } = noted(log);
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['seek', {}], ['look', { n: 1 }]) : say('done')),
      tools: [look],
      hooks: [hook('before-tool'), hook('after-tool')],
      policy: {},
    });
    expect(await (await start(on)).result()).toMatchObject({ reason: 'completed' });
    expect(log.filter((line) => line.includes('seek'))).toEqual(['before-tool seek', expect.stringMatching(/^after-tool seek \d+$/u)]);
    expect(resultTexts(on.requests[1]?.messages ?? [])[0]).toContain('no tool named "seek"');
  });

  it('E-08: an unknown tool and a tool that fails are results; the calls of a turn run at once, their results stand in call order', async () => {
    const running = new Set<number>();
    let most = 0;
    const work = defineTool({
      name: 'work',
      description: 'Fails for odd numbers, once all calls run.',
      parameters: z.strictObject({ n: z.number() }),
      effect: 'read',
      execute: async ({ n }) => {
        running.add(n);
        most = Math.max(most, running.size);
        await expect.poll(() => most).toBe(3);
        running.delete(n);
        if (n % 2 === 1) throw new Error(`no ${n}`);
        return `did ${n}`;
      },
    });
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['seek', {}], ['work', { n: 1 }], ['work', { n: 2 }], ['work', { n: 3 }]) : say('done')),
      tools: [work],
      policy: {},
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'done', turns: 2 });
    expect(resultTexts(on.requests[1]?.messages ?? [])).toEqual(['no tool named "seek"; available: work', 'no 1', 'did 2', 'no 3']);
    expect(resultsAreErrors(on.requests[1]?.messages ?? [])).toEqual([true, true, false, true]);
  });

  it('D-32: usage adds up over the calls of a run, and is told of a cancelled run too', async () => {
    const { look } = noted([]);
    const on = await worker({
      model: async (request, n) => {
        if (n < 3) return call(['look', { n }]);
        request.onDelta({ type: 'text', text: 'x'.repeat(400) });
        await run.handle.signal('cancel', {});
        return new Promise((_, reject) => request.signal.addEventListener('abort', () => reject(request.signal.reason), { once: true }));
      },
      tools: [look],
      policy: {},
      price: { input: 1, output: 2 },
    });
    const run = await start(on);
    const { usage, costUsd, lastUsage, reason } = await run.result();
    expect(reason).toBe('cancelled');
    expect(lastUsage).toMatchObject({ inputTokens: 10, outputTokens: 5 });
    // two whole answers, and what the third had said when it was cut
    expect(usage.outputTokens).toBe(5 + 5 + 100);
    expect(usage.inputTokens).toBeGreaterThan(10 + 10);
    expect(costUsd).toBeCloseTo((usage.inputTokens + 2 * usage.outputTokens) / 1e6, 9);
    expect(await run.handle.query('usage')).toMatchObject({ total: usage });
  });
});

function resultsAreErrors(messages: readonly Message[]): boolean[] {
  return messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool_result' ? [part.isError] : [])));
}
