import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue, Message } from '../../../../src/contracts/schemas/message.js';
import { CompletionCheck, CompletionPolicy } from '../../../../src/contracts/schemas/policy.js';
import {
  type CompletionVerdict,
  checkCompletion,
  completionAttempts,
} from '../../../../src/workflows/policies/answer/completion-checks.js';
import { answer, type Called, EFFECTS, task, turns, workOf } from '../support/run-messages.js';

const ACCEPT = { accept: true };
const edit: Called = { name: 'edit_file', args: { path: 'src/a.ts' } };
const read: Called = { name: 'read_file', args: { path: 'src/a.ts' } };
const test: Called = { name: 'run_command', args: { command: 'npm test' } };

describe('checkCompletion: plan-finished', () => {
  const policy = CompletionPolicy.parse({ checks: ['plan-finished'] });

  it('given a plan with open steps, then the run may not end and the correction names them', () => {
    const verdict = check(
      policy,
      turns([plan({ step: 'write', status: 'done' }, { step: 'test', status: 'in_progress' }, { step: 'ship', status: 'pending' })]),
    );
    expect(verdict).toMatchObject({ accept: false, check: 'plan-finished' });
    expect(correctionOf(verdict)).toContain('test (in_progress); ship (pending)');
    expect(correctionOf(verdict)).not.toContain('write');
  });

  it('given a plan whose steps are all done, then it may', () => {
    expect(check(policy, turns([plan({ step: 'write', status: 'done' }, { step: 'skip', status: 'cancelled' })]))).toEqual(ACCEPT);
  });

  it('given several plans, then the last successful one counts', () => {
    const open = plan({ step: 'a', status: 'pending' });
    const done = plan({ step: 'a', status: 'done' });
    expect(check(policy, turns([open], [done]))).toEqual(ACCEPT);
    expect(check(policy, turns([done], [open])).accept).toBe(false);
    expect(check(policy, turns([open], [{ ...done, failed: true }])).accept).toBe(false);
  });

  it('given no plan at all, or one of another shape, then there is nothing to finish', () => {
    expect(check(policy, turns([read]))).toEqual(ACCEPT);
    expect(check(policy, turns([{ name: 'update_plan', args: { note: 'x' } }]))).toEqual(ACCEPT);
    expect(check(policy, turns([{ name: 'update_plan', args: ['x'] }]))).toEqual(ACCEPT);
  });

  it.each([
    ['items with text', { items: [{ text: 'ship it', status: 'todo' }] }],
    ['todos with content', { todos: [{ content: 'ship it', status: 'PENDING' }] }],
    ['steps without a status', { steps: [{ step: 'ship it' }] }],
  ])("a person's own plan tool may write %s", (_, args) => {
    const own = { ...policy, planTool: 'todo' };
    expect(correctionOf(check(own, turns([{ name: 'todo', args }])))).toContain('ship it');
  });

  it('given a hundred open steps, then the correction names ten', () => {
    const steps = Array.from({ length: 100 }, (_, index) => ({ step: `step ${index} ${'x'.repeat(400)}`, status: 'pending' }));
    const correction = correctionOf(check(policy, turns([plan(...steps)])));
    expect(correction).toContain('and 90 more');
    expect(correction.length).toBeLessThan(2_000);
  });
});

describe('checkCompletion: edits-verified', () => {
  const policy = CompletionPolicy.parse({ checks: ['edits-verified'] });

  it('D-30: given an edit after which nothing was read, searched or run, then the model is told to verify, with the file', () => {
    const verdict = check(policy, turns([read], [edit]));
    expect(verdict).toMatchObject({ accept: false, check: 'edits-verified' });
    expect(correctionOf(verdict)).toContain('src/a.ts');
  });

  it('D-30: it is said once in a run', () => {
    const work = workOf(policy, turns([edit]));
    const first = checkCompletion(policy, work);
    if (first.accept) throw new Error('the first edit was not asked about');
    expect(checkCompletion(policy, workOf(policy, turns([test], [edit]), { ...work, told: first.told }))).toEqual(ACCEPT);
  });

  it('D-30: what another check objects to says nothing of edits', () => {
    const both = CompletionPolicy.parse({ checks: ['plan-finished', 'edits-verified'] });
    const verdict = check(both, turns([edit, plan({ step: 'a', status: 'pending' })]));
    expect(verdict).toMatchObject({ check: 'plan-finished', told: { verify: false } });
  });

  it('D-30: only files that nothing was read, searched or run after are named', () => {
    const verdict = check(policy, turns([edit], [test], [{ name: 'edit_file', args: { path: 'src/b.ts' } }]));
    expect(correctionOf(verdict)).toContain('src/b.ts');
    expect(correctionOf(verdict)).not.toContain('src/a.ts');
  });

  it.each([
    ['a read', [[edit], [read]]],
    ['a run, though it failed', [[edit], [{ ...test, failed: true }]]],
    ['a run in the same turn', [[edit, test]]],
  ])('D-30: given an edit and then %s, then the run may end', (_, given) => {
    expect(check(policy, turns(...given))).toEqual(ACCEPT);
  });

  it.each([
    ['a run before it', [[test, edit]]],
    ['only the plan after it', [[edit], [plan({ step: 'a', status: 'done' })]]],
    ['a read that failed', [[edit], [{ ...read, failed: true }]]],
    ['a tool that does not exist', [[edit], [{ name: 'verify', failed: true }]]],
    ['another edit', [[edit], [test], [edit]]],
  ])('D-30: given an edit and %s, then it is not verified', (_, given) => {
    expect(check(policy, turns(...given)).accept).toBe(false);
  });

  it.each([
    ['failed edits', [[{ ...edit, failed: true }]]],
    ['changes that name no file', [[{ name: 'send_mail', args: { to: 'ada' } }]]],
    ['reads', [[read], [read]]],
  ])('given only %s, then there is no edit to verify', (_, given) => {
    expect(check(policy, turns(...given))).toEqual(ACCEPT);
  });
});

describe('checkCompletion: phases-done', () => {
  const policy = CompletionPolicy.parse({
    checks: ['phases-done'],
    phases: [
      { name: 'edit', tools: ['edit_file', 'write_file'] },
      { name: 'finalize', tools: ['run_command'], command: 'git commit' },
    ],
  });
  const commit: Called = { name: 'run_command', args: { command: 'git commit -m done' } };

  it('D-16: given a required phase that is missing, then the correction names it, its tools and its command', () => {
    const verdict = check(policy, turns([edit], [test]));
    expect(verdict).toMatchObject({ accept: false, check: 'phases-done' });
    expect(correctionOf(verdict)).toContain('finalize (run_command: git commit)');
    expect(correctionOf(verdict)).not.toContain('edit_file');
  });

  it('D-16: given every phase, by any one of its tools, then the run may end', () => {
    expect(check(policy, turns([{ name: 'write_file', args: { path: 'b' } }], [commit]))).toEqual(ACCEPT);
  });

  it('D-16: a failed tool completes no phase', () => {
    expect(check(policy, turns([edit], [{ ...commit, failed: true }])).accept).toBe(false);
  });

  it('D-16: of two phases with one name each has to be done', () => {
    const twins = { ...policy, phases: policy.phases.map((phase) => ({ ...phase, name: 'work' })) };
    expect(correctionOf(check(twins, turns([edit])))).toContain('work (run_command: git commit)');
    expect(check(twins, turns([edit], [commit]))).toEqual(ACCEPT);
  });

  it('D-16: a command that only begins with the same letters is another one', () => {
    expect(check(policy, turns([edit], [{ name: 'run_command', args: { command: 'git commit-tree x' } }])).accept).toBe(false);
    expect(check(policy, turns([edit], [{ name: 'run_command', args: { command: '  git commit' } }]))).toEqual(ACCEPT);
  });

  it('D-16: given an answer without any tool call, then there is no correction', () => {
    expect(check(policy, [answer('Paris.')])).toEqual(ACCEPT);
  });
});

describe('checkCompletion', () => {
  it('the first check of the policy that objects is told', () => {
    const given = turns([plan({ step: 'a', status: 'pending' }), edit]);
    const both = CompletionPolicy.parse({ checks: ['edits-verified', 'plan-finished'] });
    expect(check(both, given)).toMatchObject({ check: 'edits-verified' });
    expect(check({ ...both, checks: ['plan-finished', 'edits-verified'] }, given)).toMatchObject({ check: 'plan-finished' });
    expect(check({ ...both, checks: [] }, given)).toEqual(ACCEPT);
  });

  it('whatever was called, it never throws, and a correction is short', () => {
    const called = fc.record({
      name: fc.constantFrom(...Object.keys(EFFECTS), 'unknown'),
      args: fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as JsonValue),
      failed: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(fc.array(called, { maxLength: 3 }), { maxLength: 6 }), (given) => {
        const phases = [{ name: 'p', tools: ['run_command'], command: 'x' }];
        const verdict = check(CompletionPolicy.parse({ checks: CompletionCheck.options, phases }), turns(...given));
        expect(correctionOf(verdict).length).toBeLessThan(2_000);
      }),
    );
  });
});

describe('completionAttempts', () => {
  const once = CompletionPolicy.parse({ attemptsMax: 1 });
  const failedPush: Called = { name: 'run_command', args: { command: 'git push' }, failed: true };

  it("D-16: the policy's own number, and two where a command of version control failed", () => {
    expect(completionAttempts(once, workOf(once, turns([test])))).toBe(1);
    expect(completionAttempts(once, workOf(once, turns([{ ...failedPush, failed: false }])))).toBe(1);
    expect(completionAttempts(once, workOf(once, turns([failedPush], [test])))).toBe(2);
    expect(completionAttempts({ ...once, attemptsMax: 3 }, workOf(once, turns([failedPush])))).toBe(3);
  });

  it('D-16: a policy that never sends back does not for version control either', () => {
    expect(completionAttempts({ ...once, attemptsMax: 0 }, workOf(once, turns([failedPush])))).toBe(0);
  });
});

function check(policy: CompletionPolicy, messages: readonly Message[]): CompletionVerdict {
  return checkCompletion(policy, workOf(policy, [task('Fix the bug.'), ...messages]));
}

function correctionOf(verdict: CompletionVerdict): string {
  return verdict.accept ? '' : verdict.correction;
}

function plan(...steps: readonly { step: string; status: string }[]): Called {
  return { name: 'update_plan', args: { steps: [...steps] } };
}
