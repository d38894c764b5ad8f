import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { RunSetup } from '../../../src/contracts/activities.js';
import { defineTool } from '../../../src/define/define-tool.js';
import type { ModelAnswer, ModelRequest } from '../../../src/providers/contract/provider.js';
import { call, say } from '../../support/agent-worker.js';
import { castConfig, resultTexts } from '../../support/subagents/cast.js';
import { until, useWorkers } from '../../support/use-workers.js';

const tool = (name: string) =>
  defineTool({ name, description: 'd', parameters: z.strictObject({}), effect: 'read', execute: () => `${name} was here` });

const hangs = ({ signal }: ModelRequest): Promise<ModelAnswer> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true }));

describe('a config that changes while a run works', { timeout: 60_000 }, () => {
  const { worker, start } = useWorkers();
  const before = castConfig({ desk: { prompt: 'old words' } }, { tools: [tool('old_tool')] });
  const after = castConfig({ desk: { prompt: 'new words' } }, { tools: [tool('new_tool')] });

  /** A run that the worker of the old config began, at work on the worker of the new one. */
  async function handedOver(model: (request: ModelRequest) => ModelAnswer) {
    const old = await worker({ config: before, model: hangs, shutdownGraceMs: 0 });
    const run = await start(old, { agent: 'desk' });
    await until(() => old.requests.length === 1, 'the request');
    await old.shutdown();
    return { run, on: await worker({ config: after, model, taskQueue: old.taskQueue, maxCachedWorkflows: 0 }) };
  }

  it('D5: changes only later runs: the live one keeps the prompt and the tools that it captured, as query setup shows', async () => {
    const { run, on } = await handedOver(() => say('done'));
    await run.result();
    expect(on.requests.at(-1)).toMatchObject({ prompt: 'old words', tools: [{ name: 'old_tool' }] });
    expect(await run.handle.query<RunSetup>('setup')).toMatchObject({ prompt: 'old words', tools: [{ name: 'old_tool' }] });
    const next = await start(on, { agent: 'desk' });
    await next.result();
    expect(on.requests.at(-1)).toMatchObject({ prompt: 'new words', tools: [{ name: 'new_tool' }] });
  });

  it('W20: a call of a tool that the worker no longer has is a failed result at once, and the run goes on', async () => {
    const { run } = await handedOver((request) => {
      const [told] = resultTexts(request);
      return told === undefined ? call(['old_tool', {}]) : say(told);
    });
    const result = await run.result();
    expect(result).toMatchObject({ reason: 'completed', toolCalls: 1, output: expect.stringContaining('old_tool') });
    expect(result.output).not.toContain('was here');
    const { events } = await run.handle.fetchHistory();
    const starts = (events ?? []).filter(
      ({ activityTaskScheduledEventAttributes: activity }) => activity?.activityType?.name === 'callTool',
    );
    expect(starts).toHaveLength(1);
  });
});
