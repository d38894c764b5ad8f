import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Part } from '../../../src/contracts/schemas/message.js';
import { type AnyToolDefinition, defineTool, type ToolOptions } from '../../../src/define/define-tool.js';
import { call, say } from '../../support/agent-worker.js';
import { latch, until, untilAborted, useWorkers } from '../../support/use-workers.js';
import { resultTexts } from '../support/result-texts.js';

describe('callTool', () => {
  const { worker, start } = useWorkers();

  it.each([
    ['broken JSON', '{"path": "a', 'JSON'],
    ['an array', '["a"]', 'not a JSON object'],
    ['null', 'null', 'not a JSON object'],
    ['a number', '1', 'not a JSON object'],
    ['trailing text', '{"path": "a"} and so on', 'JSON'],
    ['NaN', '{"path": NaN}', 'JSON'],
  ])('B31: arguments that are %s do not run the tool; the model reads why, the schema and what it sent', async (_, argsText, why) => {
    let starts = 0;
    const tool = toolOf(() => {
      starts += 1;
      return 'read';
    });
    const [result] = await resultsOf(tool, [{ type: 'tool_call', callId: 'x', name: 'act', args: {}, argsText }]);
    expect(starts).toBe(0);
    expect(result).toContain('invalid arguments for act: ');
    expect(result).toContain(why);
    expect(result).toContain('schema: {');
    expect(result).toContain(`you sent (first 800 chars): ${argsText}`);
  });

  it('B31: other calls of the same answer run', async () => {
    const tool = toolOf(({ path }) => `read ${path}`);
    const results = await resultsOf(tool, [
      { type: 'tool_call', callId: 'x', name: 'act', args: { path: 1 } },
      { type: 'tool_call', callId: 'y', name: 'act', args: { path: 'b' } },
    ]);
    expect(results[0]).toContain('path: ');
    expect(results[1]).toBe('read b');
  });

  it.each([
    ['a BigInt in an object', { file: { size: 1n } }, '"size" is a BigInt. Return String(value), or Number(value) if it is small.'],
    ['a BigInt in a list', ['a', 2n], '"1" is a BigInt. Return String(value), or Number(value) if it is small.'],
    ['a BigInt', 7n, 'it is a BigInt. Return String(value), or Number(value) if it is small.'],
    ['an object that contains itself', circular(), 'it contains itself. Return plain data.'],
  ])('D5: a tool that returns %s has run once, and the model reads what is not JSON', async (_, value, problem) => {
    let starts = 0;
    const tool = toolOf(() => {
      starts += 1;
      return value as never;
    });
    expect(await resultsOf(tool)).toEqual([`TOOL_RESULT: the tool returned a value that is not JSON: ${problem}`]);
    expect(starts).toBe(1);
  });

  it.each(['{"__proto__":{"isAdmin":true},"path":"a"}', '{"constructor":{"prototype":{"isAdmin":true}},"path":"a"}'])(
    'arguments with __proto__ or constructor, %s, give no tool and no object a field',
    async (argsText) => {
      const seen: unknown[] = [];
      const open = defineTool({
        name: 'act',
        description: 'Acts.',
        parameters: z.looseObject({ path: z.string() }),
        execute: (args) => {
          seen.push(args['isAdmin'], Object.getPrototypeOf(args) === Object.prototype, args.path);
          return 'acted';
        },
      });
      await resultsOf(open, [{ type: 'tool_call', callId: 'x', name: 'act', args: JSON.parse(argsText) }]);
      expect(seen).toEqual([undefined, true, 'a']);
      expect(Reflect.get({}, 'isAdmin')).toBeUndefined();
    },
  );

  it('an array that only looks like content is passed on as JSON', async () => {
    const tool = toolOf(() => [{ type: 'text' }, { type: 'file', mime: 7 }] as never);
    expect(await resultsOf(tool)).toEqual(['[{"type":"text"},{"type":"file","mime":7}]']);
  });

  it('L4: a result too large for a message is said instead of sent', async () => {
    const tool = toolOf(() => [{ type: 'file', mime: 'image/png', dataBase64: 'A'.repeat(1_500_000) }]);
    const [result] = await resultsOf(tool);
    expect(result).toMatch(/^the tool ran, but its result of 15\d{5} bytes is too large/u);
  });

  it('A14: an image that is not what its type says is refused as a whole, and the model reads why', async () => {
    const tool = toolOf(() => [
      { type: 'text', text: 'a chart' },
      { type: 'file', mime: 'image/png', dataBase64: Buffer.from('<html>').toString('base64') },
    ]);
    expect(await resultsOf(tool)).toEqual(['the tool ran, but its result is refused: BAD_IMAGE: the data is not a complete png image']);
  });

  it('L3, A14: an error message of 3 MB reaches the model cut, at once, with its beginning and its end', async () => {
    const tool = toolOf(() => {
      throw new Error(`order 4711 is closed: ${'x'.repeat(3_000_000)} see you`);
    });
    const [result] = await resultsOf(tool);
    expect(Buffer.byteLength(result ?? '')).toBeLessThan(52_000);
    expect(result).toMatch(/^order 4711 is closed: x/u);
    expect(result).toContain('x see you');
  });

  it('A14: heartbeat details that are a text are shown without quotes, others as JSON', async () => {
    const given = latch();
    const tool = toolOf(async (_, ctx) => {
      ctx.heartbeat('half way');
      await given.opened;
      return 'done';
    });
    const on = await worker({ model: (_, n) => (n === 1 ? call(['act', { path: 'a' }]) : say('ok')), tools: [tool] });
    const run = await start(on);
    const shown = async (): Promise<unknown> => {
      const [pending] = (await run.handle.describe()).raw.pendingActivities ?? [];
      const data = pending?.heartbeatDetails?.payloads?.[0]?.data;
      return data ? (JSON.parse(Buffer.from(data).toString()) as { lastText?: string }).lastText : undefined;
    };
    await until(async () => (await shown()) === 'half way', 'the text of the tool');
    given.open();
    expect(await run.result()).toMatchObject({ reason: 'completed' });
  });

  it('heartbeat details that are no JSON fail the tool that gave them; undefined and text do not', async () => {
    const tool = toolOf((_, ctx) => {
      ctx.heartbeat(undefined as never);
      ctx.heartbeat('half way');
      ctx.heartbeat(circular());
      return 'done';
    });
    const [result] = await resultsOf(tool);
    expect(result).toContain('circular');
  });

  it("W14: a worker that shuts down is not a user's cancel: the run goes on elsewhere and is told that the outcome is unknown", async () => {
    const { tool, started, starts } = untilStopped();
    const first = await worker({ model: () => call(['act', {}]), tools: [tool] });
    const run = await start(first);
    await started.opened;
    await first.shutdown();
    const second = await worker({ model: () => say('ok'), tools: [tool], taskQueue: first.taskQueue });
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(starts()).toBe(1);
    expect(resultTexts(second.requests[0]?.messages ?? [])[0]).toContain('[outcome unknown]');
  });

  it.each(['pause', 'reset'] as const)('a once call that an operator %ss is not started again: its outcome is unknown', async (how) => {
    const { tool, started, starts } = untilStopped();
    const on = await worker({ model: (_, n) => (n === 1 ? call(['act', {}]) : say('ok')), tools: [tool] });
    const run = await start(on);
    await started.opened;
    const described = await run.handle.describe();
    const pending = described.raw.pendingActivities?.[0];
    const execution = { workflowId: run.runId, runId: described.runId };
    const activity = { namespace: 'default', execution, id: pending?.activityId ?? '' };
    if (how === 'reset') await on.client.workflowService.resetActivity(activity);
    else await on.client.workflowService.pauseActivity(activity);
    const isEnded = async (): Promise<boolean> => {
      const [now] = (await run.handle.describe()).raw.pendingActivities ?? [];
      return now?.activityId !== pending?.activityId || now?.lastFailure?.message !== undefined;
    };
    await until(isEnded, 'the end of the first attempt');
    if (how === 'pause') await on.client.workflowService.unpauseActivity(activity);
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(starts()).toBe(1);
    expect(resultTexts(on.requests[1]?.messages ?? [])[0]).toContain('[outcome unknown]');
  });

  it('a cancel does not wait for a reconcile that ignores its signal', async () => {
    const [started, looking] = [latch(), latch()];
    const tool: AnyToolDefinition = defineTool({
      name: 'act',
      description: 'Acts.',
      parameters: z.strictObject({}),
      execute: (_, ctx) => {
        started.open();
        return untilAborted(ctx.signal);
      },
      reconcile: () => {
        looking.open();
        return new Promise(() => undefined);
      },
    });
    const first = await worker({ model: () => call(['act', {}]), tools: [tool] });
    const run = await start(first);
    await started.opened;
    await first.shutdown();
    await worker({ model: () => say('ok'), tools: [tool], taskQueue: first.taskQueue });
    await looking.opened;
    const cancelledAt = Date.now();
    await run.handle.signal('cancel', {});
    expect(await run.result()).toMatchObject({ reason: 'cancelled' });
    expect(Date.now() - cancelledAt).toBeLessThan(15_000);
  });

  /** Runs one answer's calls of one tool and gives the texts the model then reads. */
  async function resultsOf(tool: AnyToolDefinition, calls: readonly Part[] = [{ type: 'tool_call', callId: 'x', name: 'act', args: {} }]) {
    const on = await worker({ model: (_, n) => (n === 1 ? { ...call(), parts: [...calls] } : say('ok')), tools: [tool] });
    await (await start(on)).result();
    return resultTexts(on.requests[1]?.messages ?? []);
  }
});

function circular(): object {
  const value: Record<string, unknown> = {};
  value['self'] = value;
  return value;
}

const PATH = z.strictObject({ path: z.string().optional() });

/** A tool that runs until its signal aborts, with the number of its starts. */
function untilStopped() {
  const started = latch();
  let starts = 0;
  const tool = toolOf((_, ctx) => {
    starts += 1;
    started.open();
    return untilAborted(ctx.signal);
  });
  return { tool, started, starts: () => starts };
}

function toolOf(execute: ToolOptions<z.infer<typeof PATH>>['execute']): AnyToolDefinition {
  return defineTool({ name: 'act', description: 'Acts.', parameters: PATH, execute });
}
