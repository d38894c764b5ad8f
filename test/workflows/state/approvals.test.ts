import { describe, expect, it } from 'vitest';
import { DECISION_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { PendingApproval } from '../../../src/contracts/schemas/approval.js';
import { Approvals } from '../../../src/workflows/state/approvals.js';

const AT = '2030-01-01T00:00:00.000Z';

describe('Approvals', () => {
  it('X16: a decision carries tool and hash of what was asked, and is used once', () => {
    const approvals = new Approvals();
    approvals.add(pending('a'));
    expect(approvals.decide({ callId: 'a', decision: 'approved', by: 'ada', at: AT })).toMatchObject({ tool: 'deploy', hash: 'hash of a' });
    expect(approvals.decide({ callId: 'a', decision: 'denied', by: 'bob', at: AT })).toBeUndefined();
    expect(approvals.decided('a')).toMatchObject({ decision: 'approved', by: 'ada' });
    expect(approvals.pendingCount).toBe(0);
  });

  it('what is asked again under the same id waits again, and the new decision replaces the old one', () => {
    const approvals = new Approvals();
    for (const decision of ['denied', 'approved'] as const) {
      approvals.add(pending('budget'));
      expect(approvals.pending('budget')).toBeDefined();
      approvals.decide({ callId: 'budget', decision, by: 'ada', at: AT });
    }
    expect(approvals.list().decided).toMatchObject([{ decision: 'approved' }]);
  });

  it('of more decisions than are kept the oldest is forgotten, but none of calls that waited together', () => {
    const approvals = new Approvals();
    const many = Array.from({ length: DECISION_LIMITS.decidedKept + 50 }, (_, n) => `c${n}`);
    for (const callId of many) approvals.add(pending(callId));
    for (const callId of many) approvals.decide({ callId, decision: 'approved', by: 'ada', at: AT });
    expect(many.every((callId) => approvals.decided(callId))).toBe(true);
    approvals.add(pending('next'));
    expect(approvals.decided('c0')).toBeUndefined();
    expect(approvals.decided('c50')).toBeDefined();
  });

  it('is due when its time is over, and knows when the next one is', () => {
    const approvals = new Approvals();
    approvals.add(pending('late', '2030-01-01T00:02:00.000Z'));
    approvals.add(pending('never'));
    approvals.add(pending('soon', '2030-01-01T00:01:00.000Z'));
    expect(approvals.nextExpiry).toBe(Date.parse('2030-01-01T00:01:00.000Z'));
    expect(approvals.due(Date.parse('2030-01-01T00:00:59.999Z'))).toEqual([]);
    expect(approvals.due(Date.parse('2030-01-01T00:01:00.000Z')).map(({ callId }) => callId)).toEqual(['soon']);
  });

  it('goes through a fresh history as it is', () => {
    const approvals = new Approvals();
    approvals.add(pending('a'));
    approvals.add(pending('b'));
    approvals.decide({ callId: 'a', decision: 'denied', by: 'ada', at: AT, reason: 'no' });
    const carried = new Approvals(approvals.carry());
    expect(carried.list()).toEqual(approvals.list());
    expect(carried.publishedCount).toBe(1);
  });
});

function pending(callId: string, expires?: string): PendingApproval {
  const first = { callId, tool: 'deploy', title: 'deploy', args: {}, hash: `hash of ${callId}`, askedBy: 'gate', turn: 1, since: AT };
  return { ...first, ...(expires === undefined ? {} : { expires }) };
}
