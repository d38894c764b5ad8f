import { describe, expect, it } from 'vitest';
import { textOf } from '../../../src/contracts/message-text.js';
import { defineHook, type HookContext, type HookDefinition, type HookFunction, type HookPoint } from '../../../src/define/define-hook.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import type { StreamEvent } from '../../../src/streams/stream.js';
import { call, say } from '../../support/agent-worker.js';
import { look } from '../../support/tools/sample-tools.js';
import { latch, until, untilAborted, useWorkers } from '../../support/use-workers.js';
import { historyText } from '../support/history-text.js';

const SECRET = 'token-is-hunter2';

describe('hooks around a model call', () => {
  const { worker, start } = useWorkers();

  it('E-07: run at each attempt, and the one after the model is not asked about an attempt that failed', async () => {
    const asked: string[] = [];
    const note = (on: HookPoint) =>
      hook(on, () => {
        asked.push(on);
        return { action: 'allow' };
      });
    const on = await worker({
      model: (_, n) => {
        if (n < 3) throw new ModelError('Model.Overloaded', '500');
        return say('ok');
      },
      hooks: [note('before-model'), note('after-model')],
    });
    expect(await (await start(on)).result()).toMatchObject({ output: 'ok' });
    expect(asked).toEqual(['before-model', 'before-model', 'before-model', 'after-model']);
  });

  it('before the model may change prompt, messages and tools of the request, and nothing of it is stored', async () => {
    let seen: HookContext | undefined;
    const change = hook('before-model', (context) => {
      seen = context;
      const messages = [...(context.request?.messages ?? []), userMessage('and hurry')];
      return { action: 'modify', request: { prompt: 'Be brief.', messages, tools: [] } };
    });
    const on = await worker({ model: () => say('ok'), tools: [look], hooks: [change] });
    const run = await start(on);
    await run.result();
    expect(seen).toMatchObject({ runId: run.runId, agent: 'default', turn: 1, request: { prompt: 'You are under test.' } });
    expect(on.requests[0]).toMatchObject({ prompt: 'Be brief.', tools: [] });
    expect(on.requests[0]?.messages.map(textOf)).toEqual(['do it', 'and hurry']);
    expect((await run.messages()).map(textOf)).toEqual(['do it', 'ok']);
  });

  it('a hook that changes its request in place changes nothing, not even the cached transcript', async () => {
    const vandal = hook('before-model', ({ request }) => {
      for (const message of request?.messages ?? []) Object.assign(message, { parts: [] });
      return { action: 'allow' };
    });
    const on = await worker({ model: (_, n) => (n === 1 ? call(['look', { n: 1 }]) : say('ok')), tools: [look], hooks: [vandal] });
    await (await start(on)).result();
    expect(on.requests[1]?.messages.map(({ parts }) => parts.length)).toEqual([1, 1, 1]);
  });

  it.each([
    ['blocks', 'block', 'Hook.Blocked', 'blocked by hook before-model: too late in the day'],
    ['aborts', 'abort', 'Hook.Aborted', 'aborted by hook before-model: too late in the day'],
  ] as const)(
    'a hook that %s before the model keeps the request from being sent, and it is not tried again',
    async (_, action, type, message) => {
      const on = await worker({ model: () => say('ok'), hooks: [hook('before-model', () => ({ action, reason: 'too late in the day' }))] });
      const run = await start(on);
      await expect(run.result()).rejects.toThrow('Workflow execution failed');
      expect(await run.handle.query('result')).toMatchObject({ reason: 'error', error: { type, message } });
      expect(on.requests).toHaveLength(0);
    },
  );

  it('after the model may rewrite the text of an answer: its calls stay, and nothing of the original reaches history', async () => {
    const mask = hook('after-model', ({ output = '' }) => ({ action: 'modify', output: output.replaceAll(SECRET, '***') }));
    const on = await worker({
      model: (request, n) => {
        request.onDelta({ type: 'text', text: SECRET });
        if (n > 1) return say(`the ${SECRET}`);
        const { parts } = call(['look', { n: 1 }]);
        return { ...call(), parts: [{ type: 'text', text: `I look for ${SECRET}` }, ...parts] };
      },
      tools: [look],
      hooks: [mask],
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ output: 'the ***', toolCalls: 1 });
    expect((await run.messages()).map(textOf)).toEqual(['do it', 'I look for ***', '', 'the ***']);
    expect(await historyText(run)).not.toContain(SECRET);
  });

  it('watchers, whose stream is kept, see the text that hooks left, and only that', async () => {
    const shown: StreamEvent[] = [];
    const mask = hook('after-model', ({ output = '' }) => ({ action: 'modify', output: output.replaceAll(SECRET, '***') }));
    const on = await worker({
      model: (request) => {
        request.onDelta({ type: 'thinking', text: SECRET });
        request.onDelta({ type: 'text', text: `the ${SECRET}` });
        return say(`the ${SECRET}`);
      },
      hooks: [mask],
      streams: { publish: (event) => void shown.push(event), flush: () => Promise.resolve() },
    });
    await (await start(on)).result();
    expect(JSON.stringify(shown)).not.toContain(SECRET);
    expect(shown.flatMap((event) => (event.type === 'text' ? [event.text] : []))).toEqual(['the ***']);
  });

  it('an answer that a hook refuses ends the run, and history knows nothing of its text', async () => {
    const on = await worker({ model: () => say(SECRET), hooks: [hook('after-model', () => ({ action: 'block', reason: 'it leaks' }))] });
    const run = await start(on);
    await expect(run.result()).rejects.toThrow('Workflow execution failed');
    expect(await run.handle.query('result')).toMatchObject({
      error: { type: 'Hook.Blocked', message: 'blocked by hook after-model: it leaks' },
    });
    expect(on.requests).toHaveLength(1);
    expect(await historyText(run)).not.toContain(SECRET);
  });

  it('the partial text of a cancelled answer goes through them too', async () => {
    const streamed = latch();
    const mask = hook('after-model', ({ output = '' }) => ({ action: 'modify', output: output.replaceAll(SECRET, '***') }));
    const on = await worker({
      model: (request) => {
        request.onDelta({ type: 'text', text: `so far ${SECRET}` });
        streamed.open();
        return untilAborted(request.signal);
      },
      hooks: [mask],
    });
    const run = await start(on);
    await streamed.opened;
    await run.handle.signal('cancel', {});
    await run.result();
    expect((await run.messages()).map(textOf)).toEqual(['do it', 'so far ***']);
    expect(await historyText(run)).not.toContain(SECRET);
  });

  it('a cancel does not wait for a hook that ignores its signal', async () => {
    let asked = false;
    const hangs = hook('before-model', () => {
      asked = true;
      return new Promise<never>(() => undefined);
    });
    const on = await worker({ model: () => say('ok'), hooks: [hangs] });
    const run = await start(on);
    await until(() => asked, 'the hook');
    const cancelledAt = Date.now();
    await run.handle.signal('cancel', {});
    expect(await run.result()).toMatchObject({ reason: 'cancelled' });
    expect(Date.now() - cancelledAt).toBeLessThan(8_000);
    expect(on.requests).toHaveLength(0);
  });
});

function hook(on: HookPoint, run: HookFunction): HookDefinition {
  return defineHook({ name: on, on, run });
}

function userMessage(text: string) {
  return { id: 'from-hook', role: 'user' as const, parts: [{ type: 'text' as const, text }] };
}
