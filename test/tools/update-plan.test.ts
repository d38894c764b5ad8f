import { describe, expect, it } from 'vitest';
import { profileDecision } from '../../src/contracts/access/gate-profile.js';
import { GateProfile } from '../../src/contracts/schemas/policy.js';
import type { ToolContext } from '../../src/define/define-tool.js';
import { updatePlan } from '../../src/tools/update-plan.js';

describe('update_plan', () => {
  it('answers with a count of each status', async () => {
    const steps = [
      { step: 'read', status: 'done' as const },
      { step: 'edit', status: 'in_progress' as const },
      { step: 'test', status: 'pending' as const },
      { step: 'tell', status: 'pending' as const },
    ];
    // it reads nothing of its context
    expect(await updatePlan.execute({ steps }, {} as ToolContext)).toBe('plan of 4: 1 done, 1 in progress, 2 pending');
  });

  it.each([
    ['an empty plan', { steps: [] }],
    ['a status of its own', { steps: [{ step: 'read', status: 'finished' }] }],
    ['a step without text', { steps: [{ step: '', status: 'done' }] }],
    ['a plan of 101 steps', { steps: Array.from({ length: 101 }, () => ({ step: 'x', status: 'done' })) }],
  ])('%s is refused', (_, args) => {
    expect(updatePlan.parameters.safeParse(args).success).toBe(false);
  });

  it.each(GateProfile.options)('the gate %s lets it run', (profile) => {
    expect(profileDecision(profile, updatePlan)).toBe('allow');
  });
});
