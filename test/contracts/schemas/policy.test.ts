import { describe, expect, it } from 'vitest';
import { NO_LOOPS, NO_WORK, NOT_COMPACTED } from '../../../src/contracts/initial-state.js';
import { CompactionMemory, LoopMemory, WorkRecord } from '../../../src/contracts/schemas/carried-state.js';
import { RunPolicy } from '../../../src/contracts/schemas/policy.js';
import { POLICY_OF_0_1 } from '../../../src/workflows/policies/policy-baseline.js';

describe('what is written out is what its schema gives', () => {
  it('the policy of 0.1: all guards off, everything else as by default', () => {
    const later = {
      keepRestOfRefused: false,
      limitsDirectives: false,
      limitsBadArguments: false,
      limitsInbox: false,
      reportsTurns: false,
      weighsFallbacks: false,
      provesLosses: false,
      continuesAtFloods: false,
      tellsOwnSubagents: false,
      stopsOutrankFailures: false,
    };
    const off = { loop: { onLoop: 'off' }, quality: false, memo: false, compaction: { strategies: [] }, ...later };
    const parsed = RunPolicy.parse(off);
    expect(POLICY_OF_0_1).toEqual(parsed);
  });

  it.each([
    ['no loops', NO_LOOPS, LoopMemory.parse({})],
    ['not compacted', NOT_COMPACTED, CompactionMemory.parse({})],
    ['no work', NO_WORK, WorkRecord.parse({})],
  ])('%s', (_, written, parsed) => {
    expect(written).toEqual(parsed);
  });
});
