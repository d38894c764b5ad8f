import { describe, expect, it } from 'vitest';
import { COMPACTION_LIMITS } from '../../../../src/contracts/constants/limits.js';
import type { Message } from '../../../../src/contracts/schemas/message.js';
import { CompactionPolicy } from '../../../../src/contracts/schemas/policy.js';
import { estimateTokens } from '../../../../src/contracts/text/estimate-tokens.js';
import {
  type CompactionFacts,
  compactionGoal,
  compactionNeeded,
  latchedUntil,
  softLimit,
} from '../../../../src/workflows/policies/compaction/compaction-trigger.js';
import { adaptiveKeep } from '../../../../src/workflows/policies/compaction/message-groups.js';
import { answer, TASK_ID, task, toolGroup, user, words } from '../support/transcripts.js';

const POLICY = CompactionPolicy.parse({});

describe('compactionNeeded', () => {
  it('below the soft limit nothing is asked of the messages: they are not even looked at', () => {
    const unread = new Proxy<Message[]>([], {
      get: (_, key) => {
        if (key === 'length') return 4;
        throw new Error('looked at');
      },
    });
    expect(compactionNeeded({ ...facts([]), messages: unread, messageTokens: 100_000, window: 200_000 })).toBe('no');
  });

  it('contradiction 8: it begins at 0.6 of the window, or where the reserve begins, whichever is lower', () => {
    expect(softLimit(200_000, POLICY)).toBe(120_000);
    expect(softLimit(32_000, POLICY)).toBe(32_000 - COMPACTION_LIMITS.reserveTokens);
    // a window that is all reserve must not be compacted at every turn
    expect(softLimit(8_000, POLICY)).toBe(2_000);
    const messages = longRun(300);
    const tokens = estimateTokens(messages);
    expect(compactionNeeded({ ...facts(messages), window: (tokens / 0.6) * 1.01 })).toBe('no');
    expect(compactionNeeded({ ...facts(messages), window: (tokens / 0.6) * 0.99 })).toBe('soft');
  });

  it('B-32: when the estimate says that nothing can be saved, there is no pass', () => {
    const pinned = [task(words(40_000)), answer('a', words(40_000))];
    expect(compactionNeeded({ ...facts(pinned), window: 30_000 })).toBe('no');
    expect(compactionNeeded({ ...facts(pinned), window: 21_000 })).toBe('no');
  });

  it('a soft pass that would save less than a tenth is not worth a new prompt cache', () => {
    const messages = [task(words(400_000)), ...longRun(40).slice(1)];
    expect(compactionNeeded({ ...facts(messages), window: 190_000 })).toBe('no');
  });

  it('B-33: at 0.9 of the window the pass is forced and keeps only the last group', () => {
    const messages = longRun(300);
    const window = estimateTokens(messages) / 0.95;
    expect(compactionNeeded({ ...facts(messages), window })).toBe('forced');
    expect(compactionGoal({ ...facts(messages), window }, 'forced').keepRecentTokens).toBe(0);
  });

  it('B-33: a pass that gained nothing is not repeated before eight new messages came', () => {
    const messages = longRun(300);
    const at = { ...facts(messages), window: estimateTokens(messages) };
    const latch = latchedUntil(messages.length);
    expect(compactionNeeded({ ...at, latchedUntil: latch })).toBe('no');
    const more = [...messages, ...Array.from({ length: COMPACTION_LIMITS.latchMessages }, (_, n) => answer(`m${n}`, 'more'))];
    expect(compactionNeeded({ ...facts(more), window: at.window, latchedUntil: latch })).toBe('forced');
  });

  it('C-19: what a call reported counts, with what came since; what was reported before the last compaction does not', () => {
    const messages = longRun(300);
    const reported = { tokens: 110_000, messages: messages.length - 2, compactions: 1 };
    const base = { ...facts(messages), window: 200_000, compactions: 1 };
    expect(estimateTokens(messages)).toBeLessThan(110_000);
    expect(compactionNeeded({ ...base, reported })).toBe('no');
    expect(compactionNeeded({ ...base, reported: { ...reported, tokens: 119_900 } })).toBe('soft');
    expect(compactionNeeded({ ...base, reported: { ...reported, tokens: 119_900 }, compactions: 2 })).toBe('no');
  });

  it('a run without strategies is never compacted', () => {
    const messages = longRun(300);
    expect(compactionNeeded({ ...facts(messages), window: 10, policy: CompactionPolicy.parse({ strategies: [] }) })).toBe('no');
  });
});

describe('compactionGoal', () => {
  it('a pass goes well below where passes begin, and a forced one at least halves the messages', () => {
    const messages = longRun(300);
    const at = { ...facts(messages), window: 100_000, setupTokens: 5_000 };
    expect(compactionGoal(at, 'soft')).toEqual({ tokensMax: 25_000, keepRecentTokens: 12_500, taskId: TASK_ID });
    const overrun = compactionGoal({ ...at, window: 1_000_000 }, 'forced');
    expect(overrun.tokensMax).toBe(Math.floor(estimateTokens(messages) / 2));
  });

  it('where a model counts twice as many tokens as the estimate, the goal is half as many estimated ones', () => {
    const messages = longRun(200);
    const at = { ...facts(messages), window: 100_000 };
    const reported = { tokens: 2 * estimateTokens(messages), messages: messages.length, compactions: 0 };
    expect(compactionGoal({ ...at, reported }, 'soft').tokensMax).toBe(compactionGoal(at, 'soft').tokensMax / 2);
  });

  it('prompt and tools that fill the window are no reason to forget everything', () => {
    const messages = longRun(300);
    const goal = compactionGoal({ ...facts(messages), window: 100_000, setupTokens: 90_000 }, 'soft');
    expect(goal.tokensMax).toBe(Math.floor(estimateTokens(messages) / 4));
    expect(goal.keepRecentTokens).toBeGreaterThan(0);
  });
});

describe('adaptiveKeep', () => {
  const ten = Array.from({ length: 10 }, (_, n) => user(`m${n}`, words(400)));

  it('B-35: ten messages of 100 tokens with a target of 500 keep five', () => {
    expect(adaptiveKeep(ten, { tokens: 500, min: 1, max: 40 })).toBe(5);
  });

  it('B-35: the newest is always kept, and the number stays within its bounds', () => {
    expect(adaptiveKeep(ten, { tokens: 1, min: 0, max: 40 })).toBe(1);
    expect(adaptiveKeep(ten, { tokens: 1, min: 4, max: 40 })).toBe(4);
    expect(adaptiveKeep(ten, { tokens: 10_000, min: 4, max: 6 })).toBe(6);
    expect(adaptiveKeep(ten.slice(0, 2), { tokens: 1, min: 4, max: 40 })).toBe(2);
  });
});

function facts(messages: readonly Message[]): CompactionFacts {
  return {
    messages,
    messageTokens: estimateTokens(messages),
    setupTokens: 0,
    window: 200_000,
    taskId: TASK_ID,
    policy: POLICY,
    compactions: 0,
    latchedUntil: 0,
  };
}

/** A run of many turns, about a hundred tokens a message. */
function longRun(turns: number): Message[] {
  return [task(), ...Array.from({ length: turns }, (_, n) => toolGroup(`a${n}`, words(800))).flat()];
}
