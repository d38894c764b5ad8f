import { describe, expect, it } from 'vitest';
import { HOSTING_LIMITS } from '../../../src/contracts/constants/limits.js';
import { HeldRuns } from '../../../src/worker/supervisor/held-runs.js';

const { recentRunMs, recentRunsMax } = HOSTING_LIMITS;

describe('HeldRuns', () => {
  it('has each run with a call once, and no other', () => {
    const held = new HeldRuns();
    for (const call of [callOf('a', '1'), callOf('a', '2'), callOf('b', '3')]) held.started(call);
    expect(held.calls.map(({ activityId }) => activityId)).toEqual(['1', '2', '3']);
    expect(held.runs(0).map(({ workflowId }) => workflowId)).toEqual(['a', 'b']);
  });

  it('remembers a run for a minute after its last call, because the server may not have the result yet', () => {
    const held = new HeldRuns();
    held.started(callOf('a', '1'));
    held.ended(callOf('a', '1'), 1_000);
    expect(held.calls).toEqual([]);
    expect(held.runs(1_000 + recentRunMs - 1)).toHaveLength(1);
    expect(held.runs(1_000 + recentRunMs)).toEqual([]);
  });

  it('remembers the newest runs only', () => {
    const held = new HeldRuns();
    for (let n = 0; n <= recentRunsMax; n += 1) held.ended(callOf(`run-${n}`, '1'), n);
    const ids = held.runs(recentRunsMax).map(({ workflowId }) => workflowId);
    expect(ids).toHaveLength(recentRunsMax);
    expect(ids).not.toContain('run-0');
  });
});

function callOf(workflowId: string, activityId: string) {
  return { run: { workflowId, runId: `execution of ${workflowId}` }, activityId, activity: 'callTool' };
}
