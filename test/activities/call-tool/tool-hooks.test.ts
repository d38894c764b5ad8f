import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineHook, type HookContext, type HookDefinition, type HookFunction } from '../../../src/define/define-hook.js';
import { type AnyToolDefinition, defineTool, type ToolOptions } from '../../../src/define/define-tool.js';
import { type AgentWorkerOptions, call, say } from '../../support/agent-worker.js';
import { latch, useWorkers } from '../../support/use-workers.js';
import { historyText } from '../support/history-text.js';
import { resultTexts } from '../support/result-texts.js';

const SECRET = 'token-is-hunter2';

describe('hooks after a tool', () => {
  const { worker, start } = useWorkers();

  it('see how the call ended and what it was, also when the tool failed', async () => {
    const seen: Partial<HookContext>[] = [];
    const watch = hook('watch', ({ signal, ...context }) => {
      if (!signal.aborted) seen.push(context);
      return { action: 'allow' };
    });
    const { texts, run } = await callOnce({
      hooks: [watch],
      tools: [tool(() => 'fine'), tool(() => raise('no such table'), 'fail')],
      calls: [
        ['act', { path: 'a' }],
        ['fail', {}],
      ],
    });
    expect(texts).toEqual(['fine', 'no such table']);
    expect(seen).toEqual([
      { runId: run.runId, turn: 1, agent: expect.any(String), tool: 'act', args: { path: 'a' }, output: 'fine', isError: false },
      { runId: run.runId, turn: 1, agent: expect.any(String), tool: 'fail', args: {}, output: 'no such table', isError: true },
    ]);
  });

  it('what they rewrite never reaches history', async () => {
    const mask = hook('mask', ({ output = '' }) => ({ action: 'modify', output: output.replaceAll(SECRET, '***') }));
    const { texts, run } = await callOnce({ hooks: [mask], tools: [tool(() => `the ${SECRET}`)] });
    expect(texts).toEqual(['the ***']);
    const history = await historyText(run);
    expect(history).toContain('the ***');
    expect(history).not.toContain(SECRET);
  });

  it('what is kept of a long output is what they left of it', async () => {
    const mask = hook('mask', ({ output = '' }) => ({ action: 'modify', output: output.replaceAll(SECRET, '***') }));
    const lines = Array.from({ length: 5_000 }, (_, line) => `${SECRET} ${line}`).join('\n');
    const { texts } = await callOnce({ hooks: [mask], tools: [tool(() => lines)] });
    const kept = createHash('sha256').update(lines.replaceAll(SECRET, '***')).digest('hex');
    expect(texts[0]).toContain(`sha256:${kept}`);
  });

  it('what a tool collects before they are asked is not kept as an artifact', async () => {
    const mask = hook('mask', ({ output = '' }) => ({ action: 'modify', output: output.replaceAll(SECRET, '***') }));
    const long = tool(async (_, ctx) => {
      const collector = ctx.output.collect();
      for (let line = 0; line < 5_000; line += 1) await collector.write(Buffer.from(`${SECRET} ${line}\n`));
      return await collector.finish();
    });
    const { texts, run } = await callOnce({ hooks: [mask], tools: [long] });
    expect(texts[0]).toContain('*** 4999');
    expect(texts[0]).toContain('a hook may rewrite this output');
    expect(texts[0]).not.toContain('sha256:');
    expect(await historyText(run)).not.toContain(SECRET);
  });

  it('one that blocks withholds the output: the model reads that the tool ran, the hook and the reason', async () => {
    const { texts, run } = await callOnce({
      hooks: [hook('no-leak', () => ({ action: 'block', reason: 'holds a secret' }))],
      tools: [tool(() => SECRET)],
    });
    expect(texts).toEqual(['the tool ran; its output is withheld, blocked by hook no-leak: holds a secret']);
    expect(await historyText(run)).not.toContain(SECRET);
    expect(await run.events()).toContainEqual(expect.objectContaining({ type: 'tool.result', isError: true, outcome: 'failed' }));
  });

  it('one that throws withholds the output too', async () => {
    const { texts } = await callOnce({ hooks: [hook('broken', () => raise('no rules'))], tools: [tool(() => SECRET)] });
    expect(texts).toEqual(['the tool ran; its output is withheld, blocked by hook broken: the hook failed: no rules']);
  });

  it('A-26: one that aborts cannot prevent the call, only what follows: the next call of the answer does not start', async () => {
    let runs = 0;
    const counting = tool(() => {
      runs += 1;
      return 'done';
    });
    const { run } = await callOnce({
      hooks: [hook('enough', () => ({ action: 'abort', reason: 'that was enough' }))],
      tools: [counting],
      calls: [
        ['act', {}],
        ['act', {}],
      ],
    });
    expect(runs).toBe(1);
    const texts = resultTexts(await run.messages());
    expect(texts[0]).toBe('the tool ran; its output is withheld, aborted by hook enough: that was enough');
    expect(texts).toHaveLength(2);
  });

  it('a call of another tool is not their business, and keeps what it says', async () => {
    const only = hook('mask', () => ({ action: 'modify', output: '***' }), { tools: ['other_*'] });
    expect((await callOnce({ hooks: [only], tools: [tool(() => 'plain')] })).texts).toEqual(['plain']);
  });

  it('arguments that do not fit never ran, and are told like any failure', async () => {
    const seen: unknown[] = [];
    const watch = hook('watch', ({ isError }) => {
      seen.push(isError);
      return { action: 'allow' };
    });
    const { texts } = await callOnce({ hooks: [watch], tools: [tool(() => 'never')], calls: [['act', { path: 7 }]] });
    expect(texts[0]).toContain('invalid arguments for act');
    expect(seen).toEqual([true]);
  });

  it('a cancelled call is answered at once, with what a hook leaves of it in the moment it has', async () => {
    const [started, asked] = [latch(), latch()];
    const hangs = hook('hangs', () => {
      asked.open();
      return new Promise<never>(() => undefined);
    });
    const slow = tool((_, { signal }) => {
      started.open();
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error(SECRET)), { once: true }));
    });
    const on = await worker({ model: () => call(['act', {}]), tools: [slow], hooks: [hangs] });
    const run = await start(on);
    await started.opened;
    const cancelledAt = Date.now();
    await run.handle.signal('cancel', {});
    await asked.opened;
    expect(await run.result()).toMatchObject({ reason: 'cancelled' });
    expect(Date.now() - cancelledAt).toBeLessThan(8_000);
    expect(await historyText(run)).not.toContain(SECRET);
    expect(resultTexts(await run.messages())[0]).toContain('[cancelled] the tool was stopped while running');
  });

  it('C1: a cancel is answered within five seconds and a heartbeat when the tool and its hooks all hang', async () => {
    const started = latch();
    const stuck = tool(() => {
      started.open();
      return never();
    });
    const on = await worker({ model: () => call(['act', {}]), tools: [stuck], hooks: [hook('one', never), hook('two', never)] });
    const run = await start(on);
    await started.opened;
    const cancelledAt = Date.now();
    await run.handle.signal('cancel', {});
    expect(await run.result()).toMatchObject({ reason: 'cancelled' });
    expect(Date.now() - cancelledAt).toBeLessThan(9_000);
    expect(await run.events()).toContainEqual(expect.objectContaining({ type: 'tool.result', outcome: 'cancelled' }));
  });

  it('what a reconcile finds out goes through them too', async () => {
    const started = latch();
    const mask = hook('mask', ({ output = '' }) => ({ action: 'modify', output: output.replaceAll(SECRET, '***') }));
    const lost: AnyToolDefinition = defineTool({
      name: 'act',
      description: 'Acts.',
      parameters: z.strictObject({}),
      execute: (_, { signal }) => {
        started.open();
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('gone')), { once: true }));
      },
      reconcile: () => Promise.resolve({ kind: 'done', result: `found the ${SECRET}` }),
    });
    const first = await worker({ model: () => call(['act', {}]), tools: [lost], hooks: [mask] });
    const run = await start(first);
    await started.opened;
    await first.shutdown();
    await worker({ model: () => say('ok'), tools: [lost], hooks: [mask], taskQueue: first.taskQueue });
    await run.result();
    expect(resultTexts(await run.messages())).toEqual(['found the ***']);
    expect(await historyText(run)).not.toContain(SECRET);
  });

  interface OneAnswer extends Required<Pick<AgentWorkerOptions, 'hooks' | 'tools'>> {
    readonly calls?: readonly (readonly [string, unknown])[];
  }

  /** One answer with calls, then the end. */
  async function callOnce({ calls = [['act', {}]], ...options }: OneAnswer) {
    const on = await worker({ model: (_, n) => (n === 1 ? call(...calls) : say('ok')), ...options });
    const run = await start(on);
    await Promise.allSettled([run.result()]);
    return { run, texts: resultTexts(on.requests[1]?.messages ?? []) };
  }
});

const PATH = z.strictObject({ path: z.string().optional() });

function tool(execute: ToolOptions<z.infer<typeof PATH>>['execute'], name = 'act'): AnyToolDefinition {
  return defineTool({ name, description: 'Acts.', parameters: PATH, execute });
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}

function hook(name: string, run: HookFunction, filter: Partial<HookDefinition> = {}): HookDefinition {
  return defineHook({ name, on: 'after-tool', run, ...filter });
}

function raise(message: string): never {
  throw new Error(message);
}
