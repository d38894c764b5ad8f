import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineHook, type HookDefinition, type HookPoint } from '../../../src/define/define-hook.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { type AgentWorkerOptions, call, say } from '../../support/agent-worker.js';
import { latch, useWorkers } from '../../support/use-workers.js';

/** A cancel is answered within five seconds; two more are the heartbeat that brings it. */
const CANCEL_MS_MAX = 8_000;

const act = defineTool({
  name: 'act',
  description: 'Acts.',
  parameters: z.strictObject({}),
  execute: () => 'acted',
});

describe('C1: a cancel does not wait for functions that ignore their signal', () => {
  const { worker, start } = useWorkers();

  it.each<[string, (never: () => Promise<never>) => Partial<AgentWorkerOptions>]>([
    ['a hook before the run', (never) => ({ hooks: [hook('before-run', never)] })],
    ['a hook before a tool', (never) => ({ hooks: [hook('before-tool', never)] })],
    ['a hook after a tool', (never) => ({ hooks: [hook('after-tool', never)] })],
    ['a hook after the model', (never) => ({ hooks: [hook('after-model', never)] })],
    ['a hook after the run', (never) => ({ hooks: [hook('after-run', never)] })],
    ['a gate function', (never) => ({ gate: never })],
    ['a completion gate', (never) => ({ completionGate: never, policy: { completion: { custom: true } } })],
    [
      'a compactor',
      (never) => ({
        compactor: never,
        contextWindow: 1_000,
        policy: { compaction: { strategies: ['custom'], softFraction: 0.05, keepRecentTokens: 0 } },
      }),
    ],
  ])('%s', async (_, options) => {
    const asked = latch();
    const never = (): Promise<never> => {
      asked.open();
      return new Promise(() => undefined);
    };
    const on = await worker({
      model: (_request, n) =>
        n < 3 ? { ...call(['act', {}]), parts: [{ type: 'text', text: 'x'.repeat(2_000) }, ...call(['act', {}]).parts] } : say('done'),
      tools: [act],
      ...options(never),
    });
    const run = await start(on);
    await asked.opened;
    const cancelledAt = Date.now();
    await run.handle.signal('cancel', { reason: 'enough' });
    expect(await run.result()).toMatchObject({ reason: 'cancelled' });
    expect(Date.now() - cancelledAt).toBeLessThan(CANCEL_MS_MAX);
  });
});

function hook(on: HookPoint, run: HookDefinition['run']): HookDefinition {
  return defineHook({ name: on, on, run });
}
