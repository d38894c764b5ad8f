import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../src/contracts/schemas/message.js';
import { estimateTokens } from '../../../../src/contracts/text/estimate-tokens.js';
import { applySummary, planSummary } from '../../../../src/workflows/policies/compaction/summary-plan.js';
import { isPaired } from '../../../../src/workflows/policies/transcript/repair-transcript.js';
import { answer, TASK_ID, task, toolGroup, user, words } from '../support/transcripts.js';

const SUMMARY = user('sum', '## State\nall is well', 'summary');

describe('planSummary', () => {
  it('C-19: about 20,000 recent tokens are kept, and the cut never lands on a result', () => {
    const messages = [task(), ...Array.from({ length: 30 }, (_, n) => toolGroup(`a${n}`, words(8_000))).flat()];
    const plan = planSummary(messages, { tokensMax: 30_000, keepRecentTokens: 20_000, taskId: TASK_ID });
    expect(plan?.from).toBe(1);
    const recent = messages.slice(plan?.to);
    expect(recent[0]?.role).toBe('assistant');
    expect(estimateTokens(recent)).toBeGreaterThan(18_000);
    expect(estimateTokens(recent)).toBeLessThan(22_500);
  });

  it('D-12: it takes what comes after the task, and one message alone is not summed up', () => {
    const goal = { tokensMax: 0, keepRecentTokens: 0, taskId: TASK_ID };
    expect(planSummary([task(), answer('a', words(400)), answer('b', 'end')], goal)).toBeUndefined();
    expect(planSummary([task(), answer('a', 'x'), answer('b', 'y'), answer('c', 'end')], goal)).toMatchObject({ from: 1, to: 3 });
  });

  it('an earlier summary is part of what is summed up: summaries do not stack', () => {
    const messages = [task(), SUMMARY, ...toolGroup('a', words(400)), answer('b', 'end')];
    expect(planSummary(messages, { tokensMax: 0, keepRecentTokens: 0, taskId: TASK_ID })).toMatchObject({ from: 1, to: 4 });
  });

  it('of what was given before the task and what came after it, the longer stretch is taken', () => {
    const given = [user('g', 'hello'), ...toolGroup('h', words(4_000)), ...toolGroup('i', words(4_000))];
    const messages = [...given, task(), ...toolGroup('a', words(400)), answer('b', 'end')];
    expect(planSummary(messages, { tokensMax: 0, keepRecentTokens: 0, taskId: TASK_ID })).toMatchObject({ from: 1, to: 5 });
  });
});

describe('applySummary', () => {
  const messages = [task(), ...toolGroup('a', words(4_000)), answer('b', 'end')];
  const plan = { from: 1, to: 3 };

  it('the replacement stands in the place of the planned messages', () => {
    expect(applySummary(messages, plan, [SUMMARY])).toEqual([task(), SUMMARY, answer('b', 'end')]);
  });

  it('what is not shorter than what it replaces is not taken', () => {
    expect(applySummary(messages, plan, [user('sum', words(5_000), 'summary')])).toBe(messages);
  });

  it('a compactor that parts calls from their results, or repeats ids, gives a paired transcript all the same', () => {
    const [call, result] = toolGroup('a', 'ok') as [Message, Message];
    for (const replacement of [[call], [result], [call, result, call, result]]) {
      expect(isPaired(applySummary(messages, plan, replacement))).toBe(true);
    }
  });
});
