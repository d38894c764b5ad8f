import { afterEach, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { type AnyToolDefinition, defineTool, type Reconciled, type ToolContext } from '../../../src/define/define-tool.js';
import { resultTexts } from '../../activities/support/result-texts.js';
import { type CutProxy, startCutProxy } from '../../client/support/cut-proxy.js';
import { call, say } from '../../support/agent-worker.js';
import { latch, until, untilAborted, useWorkers } from '../../support/use-workers.js';

const HEARTBEAT_TIMEOUT_MS = 4_000;

describe('A4, A5: a tool call whose worker lost contact with the server', () => {
  const proxies: CutProxy[] = [];
  // registered before the workers, which must end first
  afterEach(async () => {
    await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
  });
  const { worker, start } = useWorkers();

  it('is reported as stopped when its worker says so, and the model reads that', async () => {
    const [started, stopped] = [latch(), latch()];
    const { on, run, proxy } = await losing(toolOf({ execute: stopping(started, stopped) }));
    await started.opened;
    await cutOff(proxy, stopped.opened);
    await run.result();
    const [text] = resultTexts(on.requests[1]?.messages ?? []);
    expect(text).toContain('[outcome unknown] The tool was stopped while running, because its worker lost contact with the server.');
  });

  it('is started again at once when its worker says that it was stopped and `reconcile` that it has not begun', async () => {
    const [started, stopped] = [latch(), latch()];
    let starts = 0;
    const stop = stopping(started, stopped);
    const tool = toolOf({
      execute: (ctx) => ((starts += 1) > 1 ? 'charged' : stop(ctx)),
      reconcile: () => ({ kind: 'not_started' }),
    });
    const { on, run, proxy } = await losing(tool);
    await started.opened;
    await cutOff(proxy, stopped.opened);
    await run.result();
    expect(resultTexts(on.requests[1]?.messages ?? [])).toEqual(['charged']);
    expect(await waitsOf(run)).toEqual([]);
  });

  it('is waited for while a tool that ignores its signal still runs there, and answered with its result', async () => {
    const [started, ended] = [latch(), latch()];
    let starts = 0;
    const tool = toolOf({
      effect: 'idempotent',
      execute: async () => {
        starts += 1;
        started.open();
        await ended.opened;
        return 'charged in the end';
      },
    });
    const { on, run, proxy } = await losing(tool);
    await started.opened;
    proxy.cut();
    await pause(2 * HEARTBEAT_TIMEOUT_MS);
    proxy.heal();
    await until(async () => (await waitsOf(run)).length > 0, 'the wait for the earlier attempt');
    ended.open();
    await run.result();
    expect(resultTexts(on.requests[1]?.messages ?? [])).toEqual(['charged in the end']);
    expect(starts).toBe(1);
    expect(await run.events()).toContainEqual(expect.objectContaining({ type: 'recovered', what: 'result of act from its worker' }));
  });

  it('is reported again when it ended at once in an outage that the SDK does not sit out, and no timeout is waited for', async () => {
    const [started, isCut] = [latch(), latch()];
    const tool = toolOf({
      execute: async () => {
        started.open();
        await isCut.opened;
        return 'charged in the outage';
      },
    });
    const { on, run, proxy } = await losing(tool, 60_000);
    await started.opened;
    proxy.cut();
    isCut.open();
    await pause(20_000);
    const healedAt = Date.now();
    proxy.heal();
    await run.result();
    expect(resultTexts(on.requests[1]?.messages ?? [])).toEqual(['charged in the outage']);
    expect(Date.now() - healedAt).toBeLessThan(20_000);
  });

  it('is unknown without an answer of its worker: the model reads that it could not be reached', async () => {
    const [started, stopped] = [latch(), latch()];
    const tool = toolOf({ execute: stopping(started, stopped) });
    const { on, run, proxy } = await losing(tool);
    await started.opened;
    proxy.stall();
    const other = await worker({ model: () => say('ok'), tools: [tool], taskQueue: on.taskQueue });
    await run.result();
    const [text] = resultTexts(other.requests[0]?.messages ?? []);
    expect(text).toContain('[outcome unknown] The worker that ran the tool could not be reached. The tool may still be running.');
    expect(text).not.toContain('its worker stopped');
    proxy.heal();
  });

  /** A run whose only tool call is this one, on a worker that reaches the server over a proxy. */
  async function losing(tool: AnyToolDefinition, heartbeatTimeoutMs = HEARTBEAT_TIMEOUT_MS) {
    const proxy = await startCutProxy(inject('temporalAddress'));
    proxies.push(proxy);
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['act', {}]) : say('ok')),
      tools: [tool],
      address: proxy.address,
      heartbeatTimeoutMs,
      policy: {},
    });
    return { on, proxy, run: await start(on) };
  }

  async function waitsOf(run: Awaited<ReturnType<typeof start>>): Promise<string[]> {
    return (await run.events()).flatMap((event) => (event.type === 'waiting' && event.for.includes('earlier attempt') ? [event.for] : []));
  }
});

/** A tool that waits for the abort of its signal, and then stops. */
function stopping(started: { open(): void }, stopped: { open(): void }): (ctx: ToolContext) => Promise<string> {
  return async ({ signal }) => {
    started.open();
    await untilAborted(signal).finally(() => stopped.open());
    return 'never';
  };
}

interface Given {
  readonly effect?: 'once' | 'idempotent';
  readonly execute: (ctx: ToolContext) => string | Promise<string>;
  readonly reconcile?: () => Reconciled;
}

function toolOf({ effect = 'once', execute, reconcile }: Given): AnyToolDefinition {
  return defineTool({
    name: 'act',
    description: 'Acts.',
    parameters: z.strictObject({}),
    effect,
    execute: (_, ctx) => execute(ctx),
    ...(reconcile ? { reconcile: () => Promise.resolve(reconcile()) } : {}),
  });
}

/** Cuts the worker off until it has stopped its call and the server has missed its heartbeats. */
async function cutOff(proxy: CutProxy, stopped: Promise<void>): Promise<void> {
  proxy.cut();
  await stopped;
  await pause(HEARTBEAT_TIMEOUT_MS);
  proxy.heal();
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
