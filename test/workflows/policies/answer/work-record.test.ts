import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WORK_LIMITS } from '../../../../src/contracts/constants/limits.js';
import { WorkRecord } from '../../../../src/contracts/schemas/carried-state.js';
import type { JsonValue, Message } from '../../../../src/contracts/schemas/message.js';
import { CompletionCheck, CompletionPolicy } from '../../../../src/contracts/schemas/policy.js';
import { checkCompletion, completionAttempts } from '../../../../src/workflows/policies/answer/completion-checks.js';
import { openSteps } from '../../../../src/workflows/policies/answer/work-record.js';
import type { Compactor } from '../../../../src/workflows/policies/compaction/compactor.js';
import { shortenLargestResult } from '../../../../src/workflows/policies/compaction/shorten-result.js';
import { applySummary, planSummary } from '../../../../src/workflows/policies/compaction/summary-plan.js';
import { tieredCompactor } from '../../../../src/workflows/policies/compaction/tiered-compactor.js';
import { trimCompactor } from '../../../../src/workflows/policies/compaction/trim-compactor.js';
import { isPaired, repairHistory } from '../../../../src/workflows/policies/transcript/repair-transcript.js';
import { type Called, EFFECTS, task, turns, workOf } from '../support/run-messages.js';

const POLICY = CompletionPolicy.parse({
  checks: CompletionCheck.options,
  phases: [
    { name: 'change', tools: ['edit_file', 'write_file'] },
    { name: 'finalize', tools: ['run_command'], command: 'git commit' },
  ],
});

const COMPACTORS: Readonly<Record<string, Compactor>> = {
  trim: trimCompactor,
  tiered: tieredCompactor,
  summary: (messages, goal) => {
    const plan = planSummary(messages, goal);
    const summary: Message = { id: 'sum', role: 'user', origin: 'summary', parts: [{ type: 'text', text: '## State\nwell' }] };
    return plan ? applySummary(messages, plan, [summary]) : messages;
  },
  shorten: (messages) => shortenLargestResult(messages)?.messages ?? messages,
  repair: (messages) => repairHistory(messages).messages,
};

/** One turn of a run, and what is done to the transcript after it. */
interface Played {
  readonly called: readonly Called[];
  readonly compactor: string | undefined;
  readonly tokensMax: number;
}

const status = fc.constantFrom('pending', 'in_progress', 'done', 'cancelled');
const steps = fc.array(fc.record({ step: fc.constantFrom('write', 'test', 'ship'), status }), { maxLength: 3 });
const args: Readonly<Record<string, fc.Arbitrary<JsonValue>>> = {
  update_plan: fc.record({ steps }),
  run_command: fc.record({ command: fc.constantFrom('npm test', 'git commit -m x', 'git push', 'git commit-tree y') }),
  send_mail: fc.record({ to: fc.string({ maxLength: 400 }) }),
};
const anyFile = fc.record({ path: fc.constantFrom('a.ts', 'b.ts', 'c.ts'), content: fc.string({ maxLength: 1_500 }) });
const called: fc.Arbitrary<Called> = fc
  .constantFrom(...Object.keys(EFFECTS), 'unknown')
  .chain((name) =>
    fc.record({ name: fc.constant(name), args: args[name] ?? anyFile, failed: fc.integer({ min: 0, max: 3 }).map((n) => n === 0) }),
  );
const played: fc.Arbitrary<Played> = fc.record({
  called: fc.array(called, { minLength: 1, maxLength: 3 }),
  compactor: fc.constantFrom(undefined, ...Object.keys(COMPACTORS)),
  tokensMax: fc.integer({ min: 0, max: 200 }),
});
const run = fc.array(played, { minLength: 1, maxLength: 14, size: 'max' });

describe('recordWork', () => {
  it('D-16, D-30: whatever compaction did to the transcript, the verdict is that of all the calls that were made', () => {
    let lost = 0;
    fc.assert(
      fc.property(run, (given) => {
        const { work, messages } = play(given);
        const calls = given.flatMap((turn) => turn.called);
        const verdict = checkCompletion(POLICY, work);
        expect(verdict.accept ? undefined : verdict.check).toBe(objection(calls));
        expect(completionAttempts({ ...POLICY, attemptsMax: 1 }, work)).toBe(calls.some(isFailedGit) ? 2 : 1);
        const left = checkCompletion(POLICY, workOf(POLICY, messages));
        if ((left.accept ? undefined : left.check) !== objection(calls)) lost += 1;
      }),
      { numRuns: 300 },
    );
    // reading the compacted transcript would have given another verdict: these runs do lose what matters
    expect(lost).toBeGreaterThan(0);
  });

  it('D-15: whatever compaction did, the turns of reading are counted', () => {
    fc.assert(
      fc.property(run, (given) => {
        const own = given.map((turn) => turn.called.filter(({ name }) => name !== 'update_plan')).filter((calls) => calls.length > 0);
        const others = own.findLastIndex((calls) => calls.some(({ name }) => EFFECTS[name] !== 'read'));
        expect(play(given).work.reading.turns).toBe(own.length - 1 - others);
      }),
    );
  });

  it('a plan, an edit and a phase that trim left out of the transcript are known all the same', () => {
    const open = { name: 'update_plan', args: { steps: [{ step: 'ship it', status: 'pending' }] } };
    const commit = { name: 'run_command', args: { command: 'git commit -m x' } };
    const trim = { compactor: 'trim', tokensMax: 0 };
    const notes = { called: [{ name: 'update_plan', args: {}, failed: true }], ...trim };
    const { work, messages } = play([{ called: [open, commit, { name: 'edit_file', args: { path: 'a.ts' } }], ...trim }, notes, notes]);
    expect(JSON.stringify(messages)).not.toMatch(/ship it|git commit|a\.ts/u);
    expect(work).toMatchObject({ calls: 5, openSteps: ['ship it (pending)'], unverified: ['a.ts'], phases: [1, 0] });
  });

  it('a call without a result was not made', () => {
    const [asked] = turns([{ name: 'edit_file', args: { path: 'a.ts' } }]);
    expect(workOf(POLICY, asked ? [asked] : [])).toEqual(WorkRecord.parse({}));
  });

  it('however long a run is and however long its texts are, its record stays small and can be carried', () => {
    const long = 'x'.repeat(5_000);
    const openPlan = Array.from({ length: 1_000 }, (_, n) => ({ step: `${n} ${long}`, status: 'pending' }));
    const given: Called[][] = [
      [{ name: 'update_plan', args: { steps: openPlan } }],
      ...Array.from({ length: 700 }, (_, n) => [{ name: 'edit_file', args: { path: `${n} ${long}` } }]),
      ...Array.from({ length: 800 }, (_, n) => [{ name: 'read_file', args: { path: `${n} ${long}` }, failed: true }]),
    ];
    const work = workOf(POLICY, turns(...given));
    expect(work.calls).toBe(1_501);
    expect(work.openSteps).toHaveLength(WORK_LIMITS.namesMax);
    expect(work.unverified).toHaveLength(WORK_LIMITS.namesMax);
    expect(work.reading).toMatchObject({ turns: 800, reads: { length: WORK_LIMITS.readsMax } });
    expect(JSON.stringify(work).length).toBeLessThan(100_000);
    expect(WorkRecord.parse(JSON.parse(JSON.stringify(work)))).toEqual(work);
  });
});

/** Plays a run as the loop does: calls and results, the record, and then perhaps a compaction. */
function play(given: readonly Played[]): { work: WorkRecord; messages: readonly Message[] } {
  let work = WorkRecord.parse({});
  let messages: readonly Message[] = [task('Fix the bug.')];
  given.forEach(({ called: calls, compactor, tokensMax }, turn) => {
    const own = withIds(turns(calls), turn);
    work = workOf(POLICY, own, work);
    messages = [...messages, ...own];
    messages = COMPACTORS[compactor ?? '']?.(messages, { tokensMax, keepRecentTokens: 0, taskId: 'task' }) ?? messages;
    expect(isPaired(messages)).toBe(true);
  });
  return { work, messages };
}

/** Ids of their own for the messages and calls of each turn, as in a run. */
function withIds(messages: readonly Message[], turn: number): Message[] {
  return messages.map(({ id, parts, ...message }) => ({
    ...message,
    id: `${turn}/${id}`,
    parts: parts.map((part) => ('callId' in part ? { ...part, callId: `${turn}/${part.callId}` } : part)),
  }));
}

/** What the checks are about, looked up in all the calls of a run. */
function objection(calls: readonly Called[]): CompletionCheck | undefined {
  if (calls.length === 0) return undefined;
  const plan = calls.findLast(({ name, failed }) => name === 'update_plan' && !failed);
  if (plan && openSteps(plan.args ?? {}).length > 0) return 'plan-finished';
  const lastEdit = calls.findLastIndex(isEdit);
  if (lastEdit !== -1 && !calls.slice(lastEdit + 1).some(isLook)) return 'edits-verified';
  return calls.some(isEdit) && calls.some(isCommit) ? undefined : 'phases-done';
}

function isEdit({ name, failed }: Called): boolean {
  return !failed && (name === 'edit_file' || name === 'write_file');
}

function isLook({ name, failed }: Called): boolean {
  return name === 'run_command' || name === 'send_mail' || (!failed && name !== 'update_plan');
}

function isCommit({ failed, args: given }: Called): boolean {
  return !failed && /"git commit[ "]/u.test(JSON.stringify(given));
}

function isFailedGit({ failed, args: given }: Called): boolean {
  return failed === true && JSON.stringify(given).includes('"git ');
}
