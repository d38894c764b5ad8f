import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createHookRunner } from '../../../src/activities/hooks/hook-runner.js';
import { createRunHooks } from '../../../src/activities/hooks/run-hooks.js';
import type { RunHooksInput, RunHooksResult } from '../../../src/contracts/activities.js';
import { defineHook, type HookContext, type HookDefinition, type HookFunction, type HookPoint } from '../../../src/define/define-hook.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { call, say } from '../../support/agent-worker.js';
import { latch, useWorkers } from '../../support/use-workers.js';

const INPUT = { runId: 'r', agent: 'a', turn: 3 };

describe('runHooks', () => {
  const { worker, start } = useWorkers();

  it('A-28: without hooks everything is allowed', async () => {
    expect(await ask([], { ...INPUT, on: 'before-run' })).toEqual({ action: 'allow' });
  });

  it('D-05: a hook on error sees the error as it was thrown, and may rewrite what the caller reads', async () => {
    let seen: HookContext | undefined;
    const friendly = hook('error', (context) => {
      seen = context;
      return { action: 'modify', output: 'Something went wrong; we were told.' };
    });
    const error = { type: 'Model.Auth', message: '401 from upstream' };
    expect(await ask([friendly], { ...INPUT, on: 'error', error })).toEqual({
      action: 'modify',
      output: 'Something went wrong; we were told.',
    });
    expect(seen).toMatchObject({ ...INPUT, error });
  });

  it('D-05: they run in order, and the first that refuses ends the chain, by its name', async () => {
    const asked: string[] = [];
    const note = (name: string, answer: 'allow' | 'abort') =>
      hook(
        'before-run',
        () => {
          asked.push(name);
          return answer === 'allow' ? { action: 'allow' } : { action: 'abort', reason: 'closed on Sundays' };
        },
        name,
      );
    const hooks = [note('first', 'allow'), note('second', 'abort'), note('third', 'allow')];
    expect(await ask(hooks, { ...INPUT, on: 'before-run' })).toEqual({ action: 'abort', hook: 'second', reason: 'closed on Sundays' });
    expect(asked).toEqual(['first', 'second']);
  });

  it('a chain that takes longer than its activity may is blocked in time, not asked again from its beginning', async () => {
    let asked = 0;
    const slow = (name: string): HookDefinition =>
      defineHook({
        name,
        on: 'before-run',
        timeoutMs: 700,
        onError: 'allow',
        run: () => {
          asked += 1;
          return new Promise<never>(() => undefined);
        },
      });
    // the activity that asks has a second, and its margin
    const answer = await ask([slow('first'), slow('second'), slow('third')], { ...INPUT, on: 'before-run' }, 1_000);
    expect(answer).toEqual({ action: 'block', hook: 'second', reason: 'stopped before its hooks finished' });
    expect(asked).toBe(2);
  });

  it('what a hook after the run makes of the output is all there is of it, and a cancelled run gives none that it did not see', async () => {
    const asked = latch();
    const outputSchema = { type: 'object', properties: { key: { type: 'string' } } };
    const mask = hook('after-run', ({ output = '' }) => ({ action: 'modify', output: output.replaceAll('hunter2', '***') }));
    const masked = await start(await worker({ model: () => say('{"key":"hunter2"}'), hooks: [mask], policy: {} }), { outputSchema });
    const result = await masked.result();
    expect(result.output).toBe('{"key":"***"}');
    expect(JSON.stringify(result)).not.toContain('hunter2');
    const hangs = hook('after-run', () => {
      asked.open();
      return new Promise<never>(() => undefined);
    });
    const cancelled = await start(await worker({ model: () => say('it is hunter2'), hooks: [hangs], policy: {} }));
    await asked.opened;
    await cancelled.handle.signal('cancel', {});
    expect(await cancelled.result()).toMatchObject({ reason: 'cancelled', output: '' });
  });

  it('a hook after the run may rewrite its output; one before it has nothing to rewrite, and fails closed when it tries', async () => {
    expect(await ask([sign('after-run')], { ...INPUT, on: 'after-run', output: 'done' })).toEqual({
      action: 'modify',
      output: 'done (checked)',
    });
    expect(await ask([sign('before-run')], { ...INPUT, on: 'before-run' })).toMatchObject({ action: 'block', hook: 'before-run' });
  });

  /** Asks from inside a running activity, as its worker would. */
  async function ask(hooks: readonly HookDefinition[], input: RunHooksInput, timeoutMs = 45_000): Promise<RunHooksResult | undefined> {
    const runHooks = createRunHooks({ hooks: createHookRunner(hooks, () => undefined) });
    let answer: RunHooksResult | undefined;
    const asking = defineTool({
      name: 'ask',
      description: 'Asks the hooks.',
      parameters: z.strictObject({}),
      timeoutMs,
      execute: async () => {
        answer = await runHooks(input);
        return answer.action;
      },
    });
    const on = await worker({ model: (_, n) => (n === 1 ? call(['ask', {}]) : say('ok')), tools: [asking] });
    await (await start(on)).result();
    return answer;
  }
});

function sign(on: HookPoint): HookDefinition {
  return hook(on, ({ output = '' }) => ({ action: 'modify', output: `${output} (checked)` }));
}

function hook(on: HookPoint, run: HookFunction, name: string = on): HookDefinition {
  return defineHook({ name, on, run });
}
