import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { COMPACTION_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { RunEvent } from '../../../src/contracts/event.js';
import { textOf } from '../../../src/contracts/message-text.js';
import { estimateTokens } from '../../../src/contracts/text/estimate-tokens.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import type { ModelAnswer, ModelRequest } from '../../../src/providers/contract/provider.js';
import { isPaired } from '../../../src/workflows/policies/transcript/repair-transcript.js';
import { resultTexts } from '../../activities/support/result-texts.js';
import { type AgentWorkerOptions, call, say } from '../../support/agent-worker.js';
import { type TestRun, useWorkers } from '../../support/use-workers.js';
import { words } from '../policies/support/transcripts.js';

type Compacted = Extract<RunEvent, { type: 'compacted' }>;

/** A tool whose results have about so many tokens, each with a path of its own. */
function lookTool(tokens: number) {
  return defineTool({
    name: 'look',
    description: 'Reads a part.',
    parameters: z.strictObject({ part: z.number() }),
    effect: 'read',
    execute: ({ part }) => `part ${part} of /srv/parts/p${part}.txt: ${words(tokens * 4)}`,
  });
}

/** Looks at `parts` parts, one a turn, then answers. Requests without tools are for summaries, and get `summary`. */
function reader(parts: number, summary: () => ModelAnswer = () => say('## State\nread')): AgentWorkerOptions['model'] {
  let turn = 0;
  return ({ tools }) => {
    if (tools.length === 0) return summary();
    turn += 1;
    return turn <= parts ? call(['look', { part: turn }]) : say('All parts are read.');
  };
}

describe('when and how a run makes its transcript shorter', () => {
  const { worker, start } = useWorkers();

  /** What compactions there were when the same work was done in such a window. */
  const compactedIn = async (contextWindow: number): Promise<readonly Compacted[]> => {
    const on = await worker({ model: reader(10), tools: [lookTool(500)], policy: {}, contextWindow });
    const run = await start(on);
    await run.result();
    return await compactions(run);
  };

  it('C-19: above the window less its reserve, with about 20,000 recent tokens kept, and never between a call and its result', async () => {
    const window = 100_000;
    const on = await worker({
      model: reader(30),
      tools: [lookTool(3_000)],
      policy: { compaction: { strategies: ['trim'], softFraction: 0.95 } },
      contextWindow: window,
    });
    const run = await start(on, { maxTurns: 40 });
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 31 });
    const limit = window - COMPACTION_LIMITS.reserveTokens;
    for (const { messages } of on.requests) {
      expect(estimateTokens(messages)).toBeLessThanOrEqual(limit);
      expect(isPaired(messages)).toBe(true);
      expect(messages[1]?.role).not.toBe('tool');
    }
    const [first] = await compactions(run);
    expect(first).toMatchObject({ why: 'soft', strategy: 'trim' });
    expect(first?.tokensBefore).toBeGreaterThan(limit - 3_500);
    const after = on.requests[first?.turn ?? 0]?.messages ?? [];
    expect(estimateTokens(after)).toBeGreaterThan(COMPACTION_LIMITS.keepRecentTokens - 3_500);
    expect(resultTexts(after).at(-1)).toContain(`/srv/parts/p${first?.turn}.txt`);
  });

  it('C-19: what a call reported before the last compaction is not used to decide about the next', async () => {
    const model = reader(14);
    const on = await worker({
      model: async (request, n) => {
        const answer = await model(request, n);
        // more than the estimate, by far
        return n === 10 ? { ...answer, usage: { ...NO_USAGE, inputTokens: 70_000, outputTokens: 5 } } : answer;
      },
      tools: [lookTool(500)],
      policy: { compaction: { strategies: ['trim'], keepRecentTokens: 500 } },
      contextWindow: 100_000,
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 15 });
    expect(await compactions(run)).toMatchObject([{ turn: 10, why: 'soft' }]);
  });

  it('D-09: the oldest go first; the prompt, the task and the newest message stay; the next run begins afresh', async () => {
    const model = reader(8);
    const on = await worker({
      model,
      tools: [lookTool(500)],
      policy: { compaction: { strategies: ['trim'], keepRecentTokens: 0 } },
      contextWindow: 8_000,
    });
    const run = await start(on, { task: 'read all parts' });
    await run.result();
    expect((await compactions(run)).length).toBeGreaterThan(0);
    for (const { prompt, messages } of on.requests) {
      expect(prompt).toBe('You are under test.');
      expect(messages.map(textOf)[0]).toBe('read all parts');
    }
    const parts = on.requests.map(({ messages }) => resultTexts(messages).map((text) => Number(/part (\d+)/u.exec(text)?.[1])));
    for (const [index, seen] of parts.entries()) expect(seen).toEqual(upTo(index).slice(index - seen.length));
    expect(parts.at(-1)?.length).toBeLessThan(8);
    const before = on.requests.length;
    await (await start(on, { task: 'another task' })).result();
    expect(on.requests[before]?.messages.map(textOf)).toEqual(['another task']);
  });

  it('D-10: how much fits is the window of the model: the same work is made shorter in a small one, and left whole in a large one', async () => {
    expect((await compactedIn(8_000)).length).toBeGreaterThan(0);
    expect(await compactedIn(128_000)).toEqual([]);
  });

  it('D-12: at 60 % of the window the older half is summed up, but not the task, and no result loses its call', async () => {
    const window = 50_000;
    const on = await worker({
      model: reader(20),
      tools: [lookTool(2_000)],
      policy: { compaction: { strategies: ['summary'] } },
      contextWindow: window,
    });
    const run = await start(on, { task: 'read all parts', maxTurns: 30 });
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    const [first] = await compactions(run);
    expect(first).toMatchObject({ strategy: 'summary', why: 'soft' });
    expect(first?.tokensBefore).toBeGreaterThan(0.6 * window - 2_500);
    expect(first?.tokensAfter).toBeLessThanOrEqual(0.6 * window * 0.6);
    const asked = on.requests.find(isSummary);
    expect(asked?.messages.map(textOf).join('')).toContain('/srv/parts/p1.txt');
    for (const { messages } of on.requests.filter((request) => !isSummary(request))) {
      expect(estimateTokens(messages)).toBeLessThanOrEqual(0.6 * window);
      expect(messages.map(textOf)[0]).toBe('read all parts');
      expect(isPaired(messages)).toBe(true);
    }
  });

  it('D-31, C-20: a model that cannot sum up is replaced by extracts; paths outlive the messages that named them', async () => {
    const on = await worker({
      model: reader(12, () => {
        throw new ModelError('Model.Auth', 'no key for summaries');
      }),
      tools: [lookTool(500)],
      policy: { compaction: { strategies: ['summary'], keepRecentTokens: 500 } },
      contextWindow: 8_000,
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'All parts are read.' });
    const made = await compactions(run);
    expect(made.length).toBeGreaterThan(1);
    for (const { note } of made) expect(note).toContain('extractive: Model.Auth');
    const last = on.requests.at(-1)?.messages ?? [];
    const summaries = last.filter(({ origin }) => origin === 'summary').map(textOf);
    expect(summaries).toHaveLength(1);
    // the first part was in the first summary: each later one keeps what the one before it said
    expect(summaries[0]).toContain('/srv/parts/p1.txt');
    expect(isPaired(last)).toBe(true);
  });

  it('D-31: below the threshold nothing is asked for and nothing changes', async () => {
    const on = await worker({ model: reader(4), tools: [lookTool(500)], policy: { compaction: { strategies: ['summary'] } } });
    const run = await start(on);
    await run.result();
    expect(on.requests.filter(isSummary)).toEqual([]);
    expect(await compactions(run)).toEqual([]);
    expect(resultTexts(await run.messages())).toHaveLength(4);
  });
});

const NO_USAGE = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

function isSummary({ tools }: ModelRequest): boolean {
  return tools.length === 0;
}

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}

async function compactions(run: TestRun): Promise<Compacted[]> {
  return (await run.events()).filter((event): event is Compacted => event.type === 'compacted');
}
