import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textOf } from '../../../../src/contracts/message-text.js';
import type { Message } from '../../../../src/contracts/schemas/message.js';
import { CompactionStrategy } from '../../../../src/contracts/schemas/policy.js';
import { estimateTokens } from '../../../../src/contracts/text/estimate-tokens.js';
import { saysSomething } from '../../../../src/workflows/policies/answer/judge-answer.js';
import type { Compactor } from '../../../../src/workflows/policies/compaction/compactor.js';
import { compactorFor } from '../../../../src/workflows/policies/compaction/select-compactor.js';
import { shortenLargestResult } from '../../../../src/workflows/policies/compaction/shorten-result.js';
import { applySummary, planSummary } from '../../../../src/workflows/policies/compaction/summary-plan.js';
import { tieredCompactor } from '../../../../src/workflows/policies/compaction/tiered-compactor.js';
import { trimCompactor } from '../../../../src/workflows/policies/compaction/trim-compactor.js';
import { isPaired, repairHistory } from '../../../../src/workflows/policies/transcript/repair-transcript.js';
import { answer, TASK_ID, task, toolGroup, transcript, user, words } from '../support/transcripts.js';

const goal = fc.record({
  tokensMax: fc.integer({ min: 0, max: 4_000 }),
  keepRecentTokens: fc.constantFrom(0, 100, 1_000),
  taskId: fc.constant(TASK_ID),
});

/** A model's summaries, as far as these rules see them: one stretch after the other, while that makes the transcript shorter. */
const summarize: Compactor = (messages, aim) => {
  const plan = planSummary(messages, aim);
  const summary = user(`s${messages.length}`, '## State\nall is well', 'summary');
  const shorter = plan ? applySummary(messages, plan, [summary]) : messages;
  return shorter === messages ? messages : summarize(shorter, aim);
};

const COMPACTORS = { trim: trimCompactor, tiered: tieredCompactor, summary: summarize };
const STEPS: Readonly<Record<string, Compactor>> = {
  ...COMPACTORS,
  shorten: (messages) => shortenLargestResult(messages)?.messages ?? messages,
  repair: (messages) => repairHistory(messages).messages,
};

describe.each(Object.entries(COMPACTORS))('%s', (_, compactor) => {
  it('B-36: a call is never parted from its result, and the transcript is never longer than before', () => {
    fc.assert(
      fc.property(transcript, goal, (given, aim) => {
        const compacted = compactor(given, aim);
        expect(isPaired(compacted)).toBe(true);
        expect(estimateTokens(compacted)).toBeLessThanOrEqual(estimateTokens(given));
      }),
    );
  });

  it('the task, the last answer with its results and steers nobody answered stay word for word', () => {
    fc.assert(
      fc.property(transcript, goal, (given, aim) => {
        const compacted = new Set(compactor(given, aim));
        for (const message of kept(given)) expect(compacted).toContain(message);
      }),
    );
  });

  it('the same goal again changes nothing: the very same transcript comes back', () => {
    fc.assert(
      fc.property(transcript, goal, (given, aim) => {
        const compacted = compactor(given, aim);
        expect(compactor(compacted, aim)).toBe(compacted);
      }),
    );
  });

  it('D-31: a transcript that fits comes back as it is', () => {
    fc.assert(
      fc.property(transcript, (given) => {
        expect(compactor(given, { tokensMax: 2 * estimateTokens(given), keepRecentTokens: 0, taskId: TASK_ID })).toBe(given);
      }),
    );
  });
});

describe('any sequence of compaction, shortening and repair', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom(...Object.keys(STEPS)), goal), { minLength: 2, maxLength: 6 });

  it('is paired and no longer after each step; task, last group and steers nobody answered are there', () => {
    fc.assert(
      fc.property(transcript, steps, (given, sequence) => {
        let messages = given;
        const needed = kept(repairHistory(given).messages, 'without an answer only steers').map(({ id }) => id);
        for (const [name, aim] of sequence) {
          const before = estimateTokens(messages);
          messages = STEPS[name]?.(messages, aim) ?? [];
          expect(isPaired(messages)).toBe(true);
          expect(estimateTokens(messages)).toBeLessThanOrEqual(before);
        }
        expect(messages.map(({ id }) => id)).toEqual(expect.arrayContaining(needed));
      }),
      { numRuns: 200 },
    );
  });

  it('has at most one summary where the tiers went to their end', () => {
    fc.assert(
      fc.property(transcript, (given) => {
        const aim = { tokensMax: 0, keepRecentTokens: 0, taskId: TASK_ID };
        const compacted = tieredCompactor(given, aim);
        const written = compacted.filter((message) => message.origin === 'summary' && !given.includes(message));
        const old = compacted.filter((message) => message.origin === 'summary' && !kept(given).includes(message));
        expect(written.length).toBeLessThanOrEqual(1);
        expect(written.length === 0 || old.every((message) => written.includes(message))).toBe(true);
      }),
    );
  });
});

describe('trim', () => {
  it('D-09: the oldest messages go first, and the newest one stays however long it is', () => {
    const given = [task(), answer('a', words(400)), answer('b', words(400)), answer('c', words(4_000))];
    expect(ids(trimCompactor(given, aimAt(1_150)))).toEqual(['task', 'b', 'c']);
    expect(ids(trimCompactor(given, aimAt(0)))).toEqual(['task', 'c']);
  });

  it('D-10: results of tools weigh double', () => {
    const given = [task(''), ...toolGroup('a', words(400)), answer('b', words(400)), answer('c', '')];
    // 200 for the result, 100 for the answer, and a few for the call
    expect(trimCompactor(given, aimAt(310))).toBe(given);
    expect(ids(trimCompactor(given, aimAt(299)))).toEqual(['task', 'b', 'c']);
  });
});

describe('tiered', () => {
  it('results of old calls become stubs first, with their beginning, how to have them again and what they named', () => {
    const output = `head of it ${words(3_000)} see /etc/app/settings.yaml and https://example.com/x for order_4711 ${words(300)}`;
    const given = [task(), ...toolGroup('a', output), ...toolGroup('b', words(100))];
    const compacted = tieredCompactor(given, aimAt(300));
    expect(ids(compacted)).toEqual(ids(given));
    const stub = resultText(compacted[2]);
    expect(stub.startsWith(output.slice(0, 160))).toBe(true);
    expect(stub).toContain(`[${Buffer.byteLength(output) - 160} bytes left out; call again]`);
    for (const name of ['/etc/app/settings.yaml', 'https://example.com/x', 'order_4711']) expect(stub).toContain(name);
  });

  it('a stub of a result that was kept as an artifact names its reference', () => {
    const ref = `sha256:${'0a'.repeat(32)}`;
    const given = [task(), ...toolGroup('a', `${words(3_000)} [all of it: read_artifact ${ref}]`), ...toolGroup('b', 'ok')];
    expect(resultText(tieredCompactor(given, aimAt(300))[2])).toContain(`call again or read_artifact ${ref}]`);
  });

  it('each tier goes only as far as needed: the oldest result alone becomes a stub when that is enough', () => {
    const given = [task(), ...toolGroup('a', words(4_000)), ...toolGroup('b', words(4_000)), ...toolGroup('c', 'ok')];
    const compacted = tieredCompactor(given, aimAt(1_300));
    expect(compacted[2]).not.toBe(given[2]);
    expect(compacted[4]).toBe(given[4]);
  });

  it('thinking goes and long answers and arguments are cut only when stubs are not enough', () => {
    const long: Message = {
      id: 'a',
      role: 'assistant',
      parts: [
        { type: 'thinking', text: words(1_000), opaque: 'signed' },
        { type: 'text', text: words(3_000) },
        { type: 'tool_call', callId: 'a_0', name: 'write_file', args: { path: 'notes/long.md', content: words(3_000) } },
      ],
    };
    const given = [task(), long, ...toolGroup('a', 'ok').slice(1), answer('z', 'go on')];
    const shortened = tieredCompactor(given, aimAt(500))[1];
    expect(shortened?.parts.map(({ type }) => type)).toEqual(['text', 'tool_call']);
    expect(shortened?.parts[1]).toMatchObject({ callId: 'a_0', args: { path: 'notes/long.md' } });
    expect(JSON.stringify(shortened)).toContain('[2300 characters left out]');
  });

  it('groups that are left out are told of in one summary message: how many, which tools, what they named, what the user said', () => {
    const old = Array.from({ length: 6 }, (_, n) => toolGroup(`a${n}`, words(500), { path: `src/parts/part${n}.ts` })).flat();
    const given = [task(), user('s', 'use tabs', 'steer'), ...old, answer('z', 'go on')];
    const compacted = tieredCompactor(given, aimAt(0));
    expect(ids(compacted)).toEqual(['task', 'compacted-s', 'z']);
    expect(compacted[1]).toMatchObject({ role: 'user', origin: 'summary' });
    const note = textOf(compacted[1] ?? task());
    expect(note).toContain('13 earlier messages');
    expect(note).toContain('look 6');
    expect(note).toContain('src/parts/part0.ts, src/parts/part1.ts');
    expect(note).toContain('- use tabs');
  });

  it('a summary that was there is kept and replaced, never stacked', () => {
    const summary = user('sum', `## State\nthe build is green ${words(300)}`, 'summary');
    const given = [task(), summary, ...toolGroup('a', words(500)), ...toolGroup('b', words(500)), answer('z', 'go on')];
    const once = tieredCompactor(given, aimAt(260));
    const later = [...once.slice(0, -1), ...toolGroup('c', words(500)), answer('y', 'still')];
    const twice = tieredCompactor(later, aimAt(0));
    expect(twice.filter(({ origin }) => origin === 'summary')).toHaveLength(1);
    expect(textOf(twice[1] ?? task())).toContain('the build is green');
    expect(textOf(twice[1] ?? task())).toContain('6 earlier messages');
  });

  it('M11: pictures go first, with a mark', () => {
    const picture: Message = {
      id: 'p',
      role: 'user',
      origin: 'steer',
      parts: [{ type: 'file', mime: 'image/png', dataBase64: 'A'.repeat(4_000) }],
    };
    const given = [task(), picture, answer('a', 'I see'), answer('z', 'go on')];
    expect(tieredCompactor(given, aimAt(100))[1]?.parts).toEqual([{ type: 'text', text: '[image/png of 3000 bytes left out]' }]);
  });

  it('what the goal keeps as recent stays untouched', () => {
    const groups = Array.from({ length: 10 }, (_, n) => toolGroup(`a${n}`, words(2_000))).flat();
    const given = [task(), ...groups];
    const compacted = tieredCompactor(given, { tokensMax: 0, keepRecentTokens: 2_100, taskId: TASK_ID });
    expect(compacted.slice(-8)).toEqual(given.slice(-8));
    expect(compacted.length).toBeLessThan(given.length);
  });
});

it('strategies that need nobody else have their compactor', () => {
  const own = CompactionStrategy.options.filter((strategy) => compactorFor(strategy) !== undefined);
  expect(own).toEqual(['trim', 'tiered']);
});

function aimAt(tokensMax: number) {
  return { tokensMax, keepRecentTokens: 0, taskId: TASK_ID };
}

/** What must stay: the task, all that stands from the last answer on, and where there is none the steers and the last message. */
function kept(messages: readonly Message[], without?: 'without an answer only steers'): Message[] {
  const answered = messages.findLastIndex((message) => message.role === 'assistant' && !message.partial && saysSomething(message));
  return messages.filter(({ id, origin }, index) => {
    if (id === TASK_ID) return true;
    if (answered !== -1) return index >= answered;
    return origin === 'steer' || (without === undefined && index === messages.length - 1);
  });
}

function ids(messages: readonly Message[]): string[] {
  return messages.map(({ id }) => id);
}

function resultText(message: Message | undefined): string {
  const part = message?.parts[0];
  const [content] = part?.type === 'tool_result' ? part.parts : [];
  return content?.type === 'text' ? content.text : '';
}
