import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { RunEvent } from '../../../src/contracts/event.js';
import { textOf } from '../../../src/contracts/message-text.js';
import type { ApprovalList } from '../../../src/contracts/schemas/approval.js';
import { estimateTokens } from '../../../src/contracts/text/estimate-tokens.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import type { ModelAnswer, ModelRequest } from '../../../src/providers/contract/provider.js';
import { isPaired } from '../../../src/workflows/policies/transcript/repair-transcript.js';
import { call, say } from '../../support/agent-worker.js';
import { latch, until, untilAborted, useWorkers } from '../../support/use-workers.js';
import { words } from '../policies/support/transcripts.js';

const WINDOW = 16_000;
const TURNS = 24;
const SUMMARY = '## State\nparts are read\n## Findings\nnone\n## Progress\nhalf\n## Remaining\nthe rest';

/** About 500 tokens a result; a different one for each part, so that nothing looks like a loop. */
const look = defineTool({
  name: 'look',
  description: 'reads a part',
  parameters: z.object({ part: z.string() }),
  effect: 'read',
  execute: ({ part }) => `part ${part} of /srv/parts/${part}.txt ${part.repeat(5)} ${words(2_000)}`,
});

describe('compaction in a run', () => {
  const { worker, start } = useWorkers();

  it('a run that would outgrow its window goes on: the task is in every request, each is paired and within the window', async () => {
    const on = await worker({ model: lookAtParts, tools: [look], policy: {}, contextWindow: WINDOW });
    const run = await start(on, { task: 'read all parts', maxTurns: TURNS + 6 });
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'read', turns: TURNS + 1 });
    for (const { messages } of on.requests) {
      expect(isPaired(messages)).toBe(true);
      expect(messages.map(textOf)).toContain('read all parts');
      expect(estimateTokens(messages)).toBeLessThan(WINDOW);
    }
    const [compacted] = await eventsOf(run, 'compacted');
    expect(compacted).toMatchObject({ strategy: 'tiered' });
    expect(compacted?.tokensAfter).toBeLessThan(compacted?.tokensBefore ?? 0);
  });

  it('no compaction spiral: passes are far fewer than turns', async () => {
    const on = await worker({ model: lookAtParts, tools: [look], policy: {}, contextWindow: WINDOW });
    const run = await start(on, { maxTurns: TURNS + 6 });
    await run.result();
    expect((await eventsOf(run, 'compacted')).length).toBeLessThanOrEqual(TURNS / 3);
  });

  it('a transcript too large to be carried is made shorter before the fresh history, also without any strategy', async () => {
    const on = await worker({ model: lookAtParts, tools: [look], policy: { compaction: { strategies: [] } } });
    const run = await start(on, { maxTurns: TURNS + 6, bounds: { continueAsNewEvents: 60, carriedTranscriptBytes: 8_000 } });
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'read' });
    expect(await eventsOf(run, 'compacted')).toContainEqual(expect.objectContaining({ why: 'carry', strategy: 'tiered' }));
    for (const { messages } of on.requests) expect(isPaired(messages)).toBe(true);
  });

  it('a transcript too large to be carried is made shorter also where calls of its last answer still wait', async () => {
    const on = await worker({
      model: (request, n) => (n === 6 ? call(['look', { part: 'ask' }]) : n > 6 ? say('read') : lookAtParts(request, n)),
      tools: [look],
      gate: ({ args }) => (JSON.stringify(args).includes('ask') ? { action: 'ask', reason: 'large' } : { action: 'allow' }),
      policy: { compaction: { strategies: [] } },
    });
    const run = await start(on, { bounds: { continueAsNewEvents: 200, carriedTranscriptBytes: 8_000 } });
    const { runId } = await run.handle.describe();
    await until(async () => (await run.progress()).pendingApprovals === 1, 'the question');
    for (let n = 0; n < 100; n += 1) await run.handle.signal('release');
    await until(async () => (await run.handle.describe()).runId !== runId, 'the fresh history');
    expect(await eventsOf(run, 'compacted')).toMatchObject([{ why: 'carry' }]);
    const { pending } = await run.handle.query<ApprovalList>('approvals');
    await run.handle.executeUpdate('approve', { args: [{ callId: pending[0]?.callId }] });
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'read' });
    for (const { messages } of on.requests) expect(isPaired(messages)).toBe(true);
  });

  it('strategy summary: a model sums the old messages up, and the run goes on with its summary and pays for it', async () => {
    const on = await worker({
      model: (request, n) => (isSummary(request) ? say(SUMMARY) : lookAtParts(request, n)),
      tools: [look],
      policy: { compaction: { strategies: ['summary'], keepRecentTokens: 500 } },
      contextWindow: WINDOW,
    });
    const run = await start(on, { maxTurns: TURNS + 6 });
    expect(await run.result()).toMatchObject({ reason: 'completed', usage: { inputTokens: 10 * on.requests.length } });
    expect(on.requests.filter(isSummary).length).toBeGreaterThan(0);
    expect((await eventsOf(run, 'compacted'))[0]).toMatchObject({ strategy: 'summary' });
    const last = on.requests.findLast((request) => !isSummary(request))?.messages.filter(({ origin }) => origin === 'summary') ?? [];
    expect(last).toHaveLength(1);
    expect(last.map(textOf).join('')).toContain('parts are read');
  });

  it('D-32: what a summary has used is paid also when a cancel comes before it is whole', async () => {
    let pieces = 0;
    const on = await worker({
      model: (request, n) => {
        if (!isSummary(request)) return lookAtParts(request, n);
        pieces += 1;
        // an empty summary is asked for again
        return pieces === 1 ? say('') : untilAborted(request.signal);
      },
      tools: [look],
      policy: { compaction: { strategies: ['summary'], keepRecentTokens: 500 } },
      contextWindow: WINDOW,
    });
    const run = await start(on, { maxTurns: TURNS + 6 });
    await until(() => pieces === 2, 'the second request for the summary');
    await run.handle.signal('cancel', {});
    expect(await run.result()).toMatchObject({ reason: 'cancelled', usage: { inputTokens: 10 * (on.requests.length - 1) } });
  });

  it('B-32: where nothing can be saved the compactor is not even asked, and no event tells of a pass', async () => {
    let asked = 0;
    const on = await worker({
      // one answer alone fills the window: it is the last group, which no pass may touch
      model: (_, n) => (n === 1 ? lookAt('abc') : say('read')),
      tools: [look],
      policy: { compaction: { strategies: ['custom'] } },
      compactor: () => {
        asked += 1;
        return Promise.reject(new Error('there was nothing to ask'));
      },
      contextWindow: 2_000,
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'read' });
    expect(asked).toBe(0);
    expect(await eventsOf(run, 'compacted')).toEqual([]);
    expect(await eventsOf(run, 'compaction.failed')).toEqual([]);
  });

  it('B-33: at 0.9 of the window the pass is forced, leaves only the last answer whole, and tells its sizes', async () => {
    const on = await worker({
      model: (_, n) => (n <= 2 ? lookAt(n === 1 ? 'abc' : 'def') : say('read')),
      tools: [look],
      policy: {},
      contextWindow: 3_300,
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'read' });
    const [forced, ...others] = await eventsOf(run, 'compacted');
    expect(others).toEqual([]);
    expect(forced).toMatchObject({ turn: 2, strategy: 'tiered', why: 'forced' });
    expect(forced?.tokensBefore).toBeGreaterThan(0.9 * 3_300 - 400);
    expect(forced?.tokensAfter).toBeLessThan(forced?.tokensBefore ?? 0);
    const results = on.requests[2]?.messages.filter(({ role }) => role === 'tool').map((message) => JSON.stringify(message)) ?? [];
    const whole = results.filter((text) => text.includes(words(2_000)));
    expect(whole.map((text) => text.match(/part ([a-z]) of/u)?.[1])).toEqual(['d', 'e', 'f']);
  });

  it('contradiction 9: a compactor that fails is told of, and the tiers take its place', async () => {
    const on = await worker({
      model: lookAtParts,
      tools: [look],
      policy: { compaction: { strategies: ['custom'] } },
      compactor: () => Promise.reject(new Error('no idea')),
      contextWindow: WINDOW,
    });
    const run = await start(on, { maxTurns: TURNS + 6 });
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect((await eventsOf(run, 'compaction.failed'))[0]).toMatchObject({
      strategy: 'custom',
      message: expect.stringContaining('no idea'),
    });
    expect((await eventsOf(run, 'compacted'))[0]).toMatchObject({ strategy: 'tiered' });
  });

  it('C-15: a message that comes while the transcript is compacted is kept, and read by the next turn', async () => {
    const compacting = latch();
    const on = await worker({
      model: async (request, n) => {
        if (!isSummary(request)) return lookAtParts(request, n);
        await compacting.opened;
        return say(SUMMARY);
      },
      tools: [look],
      policy: { compaction: { strategies: ['summary'], keepRecentTokens: 500 } },
      contextWindow: WINDOW,
    });
    const run = await start(on, { maxTurns: TURNS + 6 });
    await until(() => on.requests.some(isSummary), 'the request for a summary');
    expect(await run.progress()).toMatchObject({ phase: 'compacting' });
    await run.handle.signal('steer', { id: 's1', text: 'mind the gap' });
    const before = on.requests.length;
    compacting.open();
    await run.result();
    expect(on.requests[before + 1]?.messages.map(textOf)).toContain('mind the gap');
    expect(await eventsOf(run, 'steer.delivered')).toMatchObject([{ id: 's1' }]);
  });

  it('M9: a provider that says the request is too long is asked again with a shorter one', async () => {
    const on = await worker({
      model: (request, n) => {
        if (estimateTokens(request.messages) > 4_000) throw new ModelError('Model.ContextOverflow', 'too long');
        return lookAtParts(request, n);
      },
      tools: [look],
      policy: {},
    });
    const run = await start(on, { maxTurns: TURNS + 6 });
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'read' });
    expect((await eventsOf(run, 'compacted'))[0]).toMatchObject({ why: 'overflow' });
    expect(on.requests.every(({ messages }) => isPaired(messages))).toBe(true);
  });

  it('C-18: when nothing old can go, the largest result is cut, and the run goes on', async () => {
    const run = await start(await worker({ model: oneLargeResult(1_500), tools: [look], policy: {} }));
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'read' });
    expect(await eventsOf(run, 'compacted')).toMatchObject([{ strategy: 'shorten', why: 'overflow' }]);
  });

  it('C-18: when that is not enough either, the run ends with the overflow: no compaction answers another', async () => {
    const on = await worker({ model: oneLargeResult(1_000), tools: [look], policy: {} });
    const run = await start(on);
    await expect(run.result()).rejects.toThrow('Workflow execution failed');
    expect(await run.handle.query('result')).toMatchObject({ error: { type: 'Model.ContextOverflow' } });
    expect(await eventsOf(run, 'compacted')).toMatchObject([{ strategy: 'shorten', why: 'overflow' }]);
    expect(on.requests).toHaveLength(3);
  });
});

/** Calls the tool for one part after the other, then answers: how far it is, it reads off the transcript or, once compacted, counts itself. */
function lookAtParts(request: ModelRequest, n: number): ModelAnswer {
  const seen = [...JSON.stringify(request.messages).matchAll(/"part":"([a-z]+)"|\/srv\/parts\/([a-z]+)\.txt/gu)].map(
    ([, a, b]) => a ?? b ?? '',
  );
  const furthest = Math.max(-1, ...seen.map((part) => part.charCodeAt(0) - 97));
  if (n > 4 * TURNS) throw new ModelError('Model.BadRequest', 'this run does not come forward');
  return furthest + 1 >= TURNS ? say('read') : call(['look', { part: String.fromCharCode(97 + furthest + 1) }]);
}

/** One call for each of these parts. */
function lookAt(parts: string): ModelAnswer {
  return call(...Array.from(parts, (part) => ['look', { part }] as const));
}

/** One call with 500 tokens of arguments, whose result is larger; then the answer, if the provider takes the request. */
function oneLargeResult(tokensMax: number): (request: ModelRequest) => ModelAnswer {
  return ({ messages }) => {
    if (estimateTokens(messages) > tokensMax) throw new ModelError('Model.ContextOverflow', 'too long');
    return messages.length > 1 ? say('read') : call(['look', { part: 'x'.repeat(2_000) }]);
  };
}

function isSummary({ tools }: ModelRequest): boolean {
  return tools.length === 0;
}

async function eventsOf<Type extends RunEvent['type']>(
  run: { events(): Promise<readonly RunEvent[]> },
  type: Type,
): Promise<Extract<RunEvent, { type: Type }>[]> {
  const isOfType = (event: RunEvent): event is Extract<RunEvent, { type: Type }> => event.type === type;
  return (await run.events()).filter(isOfType);
}
