import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DECISION_LIMITS, PAYLOAD_LIMITS } from '../../../../src/contracts/constants/limits.js';
import type { DecidedApproval, PendingApproval } from '../../../../src/contracts/schemas/approval.js';
import type { JsonValue } from '../../../../src/contracts/schemas/message.js';
import { fitApprovals } from '../../../../src/workflows/policies/tools/truncate-approvals.js';

describe('fitApprovals', () => {
  it('a short list is given as it is', () => {
    const list = { pending: [pending('a', { path: 'x' })], decided: [decided('b')] };
    expect(fitApprovals(list, PAYLOAD_LIMITS.outsideBytesMax)).toEqual(list);
  });

  it('arguments that are too long become the beginning of their JSON text, with a mark', () => {
    const [shown] = fitApprovals({ pending: [pending('a', { text: 'x'.repeat(50_000) })], decided: [] }, 192_000).pending;
    expect(shown?.args).toMatch(/^\{"text":"xxx.*… \[cut\]$/u);
    expect(JSON.stringify(shown?.args).length).toBeLessThan(DECISION_LIMITS.argsShownBytesMax * 1.1);
  });

  it('the newest decisions are kept', () => {
    const many = Array.from({ length: 200 }, (_, n) => decided(`c${n}`, 'y'.repeat(1_000)));
    const shown = fitApprovals({ pending: [], decided: many }, PAYLOAD_LIMITS.outsideBytesMax).decided;
    expect(shown.length).toBeGreaterThan(20);
    expect(shown).toEqual(many.slice(-shown.length));
  });

  it('whatever waits and was decided, the list fits one answer, and every call that waits is in it', () => {
    const args = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>;
    const long = fc.integer({ min: 0, max: 40_000 }).map((length): JsonValue => ({ text: 'z'.repeat(length) }));
    fc.assert(
      fc.property(
        fc.array(fc.oneof(args, long), { maxLength: 60 }),
        fc.array(fc.integer({ min: 1, max: 1_000 }), { maxLength: 200 }),
        (given, reasons) => {
          const list = {
            pending: given.map((value, n) => pending(`p${n}`, value)),
            decided: reasons.map((length, n) => decided(`d${n}`, 'r'.repeat(length))),
          };
          const shown = fitApprovals(list, PAYLOAD_LIMITS.outsideBytesMax);
          expect(shown.pending.map(({ callId }) => callId)).toEqual(list.pending.map(({ callId }) => callId));
          expect(new TextEncoder().encode(JSON.stringify(shown)).length).toBeLessThan(PAYLOAD_LIMITS.outsideBytesMax);
        },
      ),
      { numRuns: 60 },
    );
  });
});

function pending(callId: string, args: JsonValue): PendingApproval {
  const hash = 'f'.repeat(64);
  return { callId, tool: 'deploy', title: 'deploy', args, hash, askedBy: 'gate', turn: 1, since: '2030-01-01T00:00:00.000Z' };
}

function decided(callId: string, reason?: string): DecidedApproval {
  const first = { callId, tool: 'deploy', hash: 'f'.repeat(64), decision: 'denied', by: 'ada', at: '2030-01-01T00:00:00.000Z' } as const;
  return { ...first, ...(reason === undefined ? {} : { reason }) };
}
