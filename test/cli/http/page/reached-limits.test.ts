import { describe, expect, it } from 'vitest';
import type { Progress } from '../../../../src/contracts/schemas/run.js';
import { limitsOf, reachedLimit } from '../../../../src/gateway/page/browser/content/limits-of.js';

const PROGRESS: Progress = {
  status: 'waiting',
  phase: 'waiting',
  turn: 9,
  maxTurns: 10,
  usage: { inputTokens: 500, outputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
  costUsd: 0.5,
  limits: { maxTokens: 1_000, maxCostUsd: 2, deadlineMs: 60_000, workedMs: 61_000 },
  inbox: 0,
  pendingApprovals: 1,
  agent: 'default',
  model: 'scripted/x',
};

describe('the limit that a run waits at', () => {
  it('C12: is the one that the request names, and of several the one that is used most', () => {
    expect(reached('10 turns')).toBe('turns');
    expect(reached('60 s of working time')).toBe('deadlineMs');
    expect(reached('1000 tokens or $2')).toBe('tokens');
    expect(reached('$2')).toBe('costUsd');
    expect(reached('a limit of a later version')).toBe('deadlineMs');
  });

  it('has no limits but that of turns for a run without a budget', () => {
    const { limits: _limits, ...plain } = PROGRESS;
    expect(limitsOf(plain).map(({ key, used, limit }) => [key, used, limit])).toEqual([['turns', 9, 10]]);
  });
});

function reached(named: string): string | undefined {
  return reachedLimit(limitsOf(PROGRESS), named)?.key;
}
