import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CONTINUE_AS_NEW_LIMITS, RUN_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { Message, Part, ToolCallPart } from '../../../src/contracts/schemas/message.js';
import { StopReason } from '../../../src/contracts/schemas/model.js';
import type { Effect } from '../../../src/contracts/schemas/tool.js';
import { judgeAnswer } from '../../../src/workflows/policies/answer/judge-answer.js';
import { shouldWarn } from '../../../src/workflows/policies/stop/finalise-warning.js';
import { historyIsLong } from '../../../src/workflows/policies/stop/history-bounds.js';
import { stopReason } from '../../../src/workflows/policies/stop/stop-reason.js';
import { groupCalls } from '../../../src/workflows/policies/tools/call-groups.js';
import { afterWorkerLoss } from '../../../src/workflows/tools/settle-loss.js';
import { unreachableBackoffMs } from '../../../src/workflows/turn/retry-model.js';

const effect = fc.constantFrom<Effect[]>('read', 'idempotent', 'once');

describe('turn cap and warning', () => {
  it('a run takes exactly its turns, and exactly one request is warned: the first with three or fewer turns left', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), (maxTurns) => {
        const warnedAt: number[] = [];
        let turn = 0;
        while (stopReason({ ...going, turn, maxTurns }) === undefined) {
          turn += 1;
          const facts = { warned: warnedAt.length > 0, remainingTurns: maxTurns - turn + 1, deadlineMs: undefined, leftMs: undefined };
          if (shouldWarn(facts)) warnedAt.push(turn);
        }
        expect(turn).toBe(maxTurns);
        expect(warnedAt).toEqual([Math.max(1, maxTurns - RUN_LIMITS.finaliseAtRemainingTurns + 1)]);
      }),
    );
  });

  it("a deadline's grace is a fifth of it, a minute at most, and warns once too", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: RUN_LIMITS.deadlineMsMin, max: RUN_LIMITS.deadlineMsMax }),
        fc.double({ min: 0, max: 1 }),
        (deadlineMs, part) => {
          const leftMs = deadlineMs * part;
          const inGrace = leftMs <= Math.min(60_000, deadlineMs / 5);
          expect(shouldWarn({ warned: false, remainingTurns: 100, deadlineMs, leftMs })).toBe(inGrace);
          expect(shouldWarn({ warned: true, remainingTurns: 1, deadlineMs, leftMs })).toBe(false);
        },
      ),
    );
  });

  it("a person's cancel comes before every cap", () => {
    const facts = { cancelRequested: true, deadlineReached: true, budgetSpent: true, turn: 20, maxTurns: 20 };
    expect(stopReason(facts)).toBe('cancelled');
    expect(stopReason({ ...facts, cancelRequested: false })).toBe('deadline');
    expect(stopReason({ ...facts, cancelRequested: false, deadlineReached: false })).toBe('budget');
  });
});

describe('groupCalls', () => {
  it('every call is in exactly one group, in order; only neighbouring reads share one', () => {
    fc.assert(
      fc.property(fc.array(effect, { maxLength: 40 }), (effects) => {
        const groups = groupCalls(callsOf(effects), (name) => effects[Number(name)]);
        expect(groups.flatMap(({ indexes }) => indexes)).toEqual(effects.map((_, index) => index));
        for (const { indexes, parallel } of groups) {
          expect(parallel).toBe(indexes.every((index) => effects[index] === 'read'));
          expect(parallel || indexes.length === 1).toBe(true);
        }
        const neighbours = groups.slice(1).map((group, index) => group.parallel && groups[index]?.parallel === true);
        expect(neighbours).not.toContain(true);
      }),
    );
  });

  it('a call of an unknown tool is alone', () => {
    expect(groupCalls(callsOf(['read', 'read']), () => undefined)).toEqual([
      { indexes: [0], parallel: false },
      { indexes: [1], parallel: false },
    ]);
  });
});

describe('judgeAnswer', () => {
  const counters = fc.record({
    truncatedAnswers: fc.integer({ min: 0, max: 12 }),
    pausedAnswers: fc.integer({ min: 0, max: 12 }),
    emptyAnswers: fc.integer({ min: 0, max: 12 }),
  });
  const parts = fc.array(
    fc.oneof(
      fc.constantFrom('', ' ', 'text').map((text): Part => ({ type: 'text', text })),
      fc.constant<Part>({ type: 'tool_call', callId: 'c', name: 'look', args: {} }),
    ),
    { maxLength: 3 },
  );

  it('whole calls always run, cut ones never do, and no call is forgotten', () => {
    fc.assert(
      fc.property(parts, fc.constantFrom(...StopReason.options), counters, (given, stop, counts) => {
        const message: Message = { id: 'm', role: 'assistant', parts: given };
        const calls = given.filter((part) => part.type === 'tool_call');
        const verdict = judgeAnswer(message, stop, counts);
        expect('calls' in verdict ? verdict.calls : []).toEqual(calls);
        expect(verdict.kind === 'tools').toBe(calls.length > 0 && stop !== 'length');
      }),
    );
  });

  it('no recovery goes on for ever: repeated alike, every answer without whole calls ends the run', () => {
    fc.assert(
      fc.property(parts, fc.constantFrom(...StopReason.options), (given, stop) => {
        fc.pre(stop === 'length' || given.every((part) => part.type === 'text'));
        const message: Message = { id: 'm', role: 'assistant', parts: given };
        const counts = { truncatedAnswers: 0, pausedAnswers: 0, emptyAnswers: 0 };
        const seen: string[] = [];
        for (let turn = 0; turn < 20; turn += 1) {
          const { kind } = judgeAnswer(message, stop, counts);
          seen.push(kind);
          if (kind === 'end') break;
          counts.truncatedAnswers += kind === 'truncated' ? 1 : 0;
          counts.pausedAnswers += kind === 'paused' ? 1 : 0;
          counts.emptyAnswers += kind === 'empty' ? 1 : 0;
        }
        expect(seen.at(-1)).toBe('end');
      }),
    );
  });
});

describe('afterWorkerLoss', () => {
  it('a once call never simply runs again, whatever it has lost', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.integer({ min: 1, max: 100 }), (hasReconcile, losses) => {
        expect(afterWorkerLoss({ effect: 'once', hasReconcile, losses })).not.toBe('again');
      }),
    );
  });

  it('every call is given up in the end', () => {
    fc.assert(
      fc.property(effect, fc.boolean(), (given, hasReconcile) => {
        expect(afterWorkerLoss({ effect: given, hasReconcile, losses: RUN_LIMITS.workerLossesMax + 1 })).toBe('unknown');
      }),
    );
  });
});

describe('unreachableBackoffMs', () => {
  it('waits from one second to thirty, and gives up after five minutes', () => {
    let waitedMs = 0;
    const waits: number[] = [];
    for (let attempt = 1; ; attempt += 1) {
      const waitMs = unreachableBackoffMs(attempt, waitedMs);
      if (waitMs === undefined) break;
      waits.push(waitMs);
      waitedMs += waitMs;
    }
    expect(waits.slice(0, 6)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000]);
    expect(Math.max(...waits)).toBe(30_000);
    expect(waitedMs).toBeGreaterThanOrEqual(300_000);
    expect(waitedMs).toBeLessThan(330_000);
  });
});

describe('historyIsLong', () => {
  const fresh = { suggested: false, events: 3, bytes: 1_000, signals: 0, updates: 0, eventsMax: undefined };

  it('each bound alone is enough, far below what the server ends a run at', () => {
    expect(historyIsLong(fresh)).toBe(false);
    expect(historyIsLong({ ...fresh, suggested: true })).toBe(true);
    expect(historyIsLong({ ...fresh, events: CONTINUE_AS_NEW_LIMITS.eventsMax })).toBe(true);
    expect(historyIsLong({ ...fresh, bytes: CONTINUE_AS_NEW_LIMITS.historyBytesMax })).toBe(true);
    expect(historyIsLong({ ...fresh, signals: CONTINUE_AS_NEW_LIMITS.signalsMax })).toBe(true);
    expect(historyIsLong({ ...fresh, updates: CONTINUE_AS_NEW_LIMITS.updatesMax })).toBe(true);
    expect(historyIsLong({ ...fresh, events: 20, eventsMax: 20 })).toBe(true);
  });
});

const going = { cancelRequested: false, deadlineReached: false, budgetSpent: false };

function callsOf(effects: readonly Effect[]): ToolCallPart[] {
  return effects.map((_, index) => ({ type: 'tool_call', callId: `c${index}`, name: String(index), args: {} }));
}
