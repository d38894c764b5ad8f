import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/client';
import { afterEach, describe, expect, inject, it, vi } from 'vitest';
import { z } from 'zod';
import { type AnyToolDefinition, defineTool, type ToolContext } from '../../../src/define/define-tool.js';
import { type CutProxy, startCutProxy } from '../../client/support/cut-proxy.js';
import { type AgentWorker, call, say } from '../../support/agent-worker.js';
import { latch, type TestRun, until, untilAborted, useWorkers } from '../../support/use-workers.js';
import { resultTexts } from '../support/result-texts.js';
import { startUnstalledClock } from '../support/unstalled-clock.js';

const HEARTBEAT_TIMEOUT_MS = 5_000;
const FENCE_MS = 0.8 * HEARTBEAT_TIMEOUT_MS;

describe('A4: a tool call whose worker loses contact with the server', () => {
  const proxies: CutProxy[] = [];
  // registered before the workers, which must end first
  afterEach(async () => {
    await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
  });
  const { worker, start } = useWorkers();

  it.each(['cut', 'stall'] as const)('is aborted before another worker may start it: connections %s', async (how) => {
    const [started, aborted] = [latch(), latch()];
    let reason: unknown;
    const tool = toolOf(async (ctx) => {
      started.open();
      await untilAborted(ctx.signal).catch(() => undefined);
      reason = ctx.signal.reason;
      aborted.open();
      throw new Error('stopped');
    });
    const { proxy, run } = await onProxy(tool);
    await started.opened;
    proxy[how]();
    const cutAt = Date.now();
    const clock = startUnstalledClock();
    await aborted.opened;
    // counted from the last heartbeat that was acknowledged, which may be a second old
    expect(Date.now() - cutAt).toBeGreaterThan(FENCE_MS - 2_500);
    expect(clock.elapsedMs()).toBeLessThan(HEARTBEAT_TIMEOUT_MS);
    expect(String(reason)).toContain('lost the ownership of the call');
    proxy.heal();
    expect(await run.result()).toMatchObject({ reason: 'completed' });
  });

  it('is not aborted by an outage that is shorter than that', async () => {
    const [started, healed] = [latch(), latch()];
    const tool = toolOf(async (ctx) => {
      started.open();
      await Promise.race([healed.opened, untilAborted(ctx.signal)]);
      return 'done in spite of it';
    });
    // a heartbeat every two seconds: the second pause has one. A busy machine makes the pauses longer
    const { on, run, proxy } = await onProxy(tool, 2 * HEARTBEAT_TIMEOUT_MS);
    await started.opened;
    await pause(1_500);
    proxy.cut();
    await pause(1_500);
    proxy.heal();
    await pause(3_000);
    healed.open();
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(resultTexts(on.requests[1]?.messages ?? [])).toEqual(['done in spite of it']);
    expect((await run.events()).filter(({ type }) => type === 'worker.lost')).toEqual([]);
  });

  it('assertOwned resolves for the current attempt', async () => {
    const tool = toolOf(async (ctx) => {
      await ctx.assertOwned();
      return 'mine';
    });
    const { on, run } = await onProxy(tool);
    await run.result();
    expect(resultTexts(on.requests[1]?.messages ?? [])).toEqual(['mine']);
  });

  it('assertOwned rejects within two seconds when the server does not answer, and the tool may report that', async () => {
    const [started, cut] = [latch(), latch()];
    let tookMs = 0;
    const tool = toolOf(async (ctx) => {
      started.open();
      await cut.opened;
      const clock = startUnstalledClock();
      await ctx.assertOwned().finally(() => {
        tookMs = clock.elapsedMs();
        proxy.heal();
      });
      return 'charged';
    });
    const { on, run, proxy } = await onProxy(tool);
    await started.opened;
    proxy.stall();
    cut.open();
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(tookMs).toBeLessThan(3_000);
    expect(resultTexts(on.requests[1]?.messages ?? [])[0]).toContain('did not confirm within 2 s');
  });

  it('assertOwned rejects for an attempt that the server counts as ended, and the signal is aborted at once', async () => {
    const [started, failed] = [latch(), latch()];
    const seen: string[] = [];
    const tool = toolOf(async (ctx) => {
      if (seen.push('start') > 1) return 'second';
      started.open();
      await failed.opened;
      await ctx.assertOwned().catch((error: unknown) => seen.push(String(error)));
      seen.push(`aborted: ${ctx.signal.aborted}`);
      return 'first';
    }, 'idempotent');
    const { run, on } = await onProxy(tool);
    await started.opened;
    await failCall(on, run);
    failed.open();
    await until(() => seen.includes('aborted: true'), 'the aborted signal');
    expect(seen.find((line) => line.startsWith('NotOwnedError'))).toContain('the server counts this attempt as ended');
    await run.result();
  });

  it('a call that ends within two seconds costs no request', async () => {
    let [beats, stalledMs]: [readonly number[], number] = [[], Infinity];
    // a stall of this process makes the call longer
    for (let attempt = 1; attempt < 10 && stalledMs > 500; attempt += 1) {
      const clock = startUnstalledClock();
      const tool = toolOf(async () => {
        beats = watchHeartbeats();
        await pause(200);
        return 'done';
      });
      const { on, run } = await onProxy(tool);
      await run.result();
      expect(on.requests).toHaveLength(2);
      stalledMs = clock.stalledMs();
    }
    expect(beats).toEqual([]);
  });

  it('a longer call costs one every two seconds, or five in a short heartbeat timeout', async () => {
    let [beats, tookMs]: [readonly number[], number] = [[], Infinity];
    const tool = toolOf(async () => {
      beats = watchHeartbeats();
      const clock = startUnstalledClock();
      await until(() => beats.length > 1, 'the second heartbeat');
      tookMs = clock.elapsedMs();
      return 'done';
    });
    const { on, run } = await onProxy(tool);
    await run.result();
    expect(on.requests).toHaveLength(2);
    expect(tookMs).toBeLessThan(2_500);
    for (const [index, at] of beats.slice(1).entries()) expect(at - (beats[index] ?? 0)).toBeGreaterThan(900);
  });

  /** A run whose only tool call is this one, on a worker that reaches the server over a proxy. */
  async function onProxy(tool: AnyToolDefinition, heartbeatTimeoutMs = HEARTBEAT_TIMEOUT_MS) {
    const proxy = await startCutProxy(inject('temporalAddress'));
    proxies.push(proxy);
    const on: AgentWorker = await worker({
      model: (_, n) => (n === 1 ? call(['act', {}]) : say('ok')),
      tools: [tool],
      address: proxy.address,
      heartbeatTimeoutMs,
      policy: {},
    });
    const run = await start(on);
    return { on, run, proxy };
  }
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The times of the requests that the running call makes for its heartbeats, as they come. */
function watchHeartbeats(): readonly number[] {
  const times: number[] = [];
  const { activity } = Context.current().client;
  const heartbeat = activity.heartbeat.bind(activity) as (...given: unknown[]) => Promise<void>;
  vi.spyOn(activity, 'heartbeat').mockImplementation((...given: unknown[]) => {
    times.push(performance.now());
    return heartbeat(...given);
  });
  return times;
}

function toolOf(execute: (ctx: ToolContext) => string | Promise<string>, effect: 'once' | 'idempotent' = 'once'): AnyToolDefinition {
  return defineTool({ name: 'act', description: 'Acts.', parameters: z.strictObject({}), effect, execute: (_, ctx) => execute(ctx) });
}

/** Fails the running tool call by id, as a recovery does. */
async function failCall(on: AgentWorker, run: TestRun): Promise<void> {
  const { raw, runId } = await run.handle.describe();
  const activityId = raw.pendingActivities?.[0]?.activityId ?? '';
  await on.client.activity.fail(
    { workflowId: run.runId, runId, activityId },
    ApplicationFailure.create({ type: 'Worker.Died', nonRetryable: true, message: 'its process is gone' }),
  );
}
