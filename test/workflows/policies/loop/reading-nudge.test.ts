import { describe, expect, it } from 'vitest';
import { WorkRecord } from '../../../../src/contracts/schemas/carried-state.js';
import type { Message } from '../../../../src/contracts/schemas/message.js';
import { CompletionPolicy } from '../../../../src/contracts/schemas/policy.js';
import { type ReadingNudge, readingNudge } from '../../../../src/workflows/policies/loop/reading-nudge.js';
import { type Called, task, turns, workOf } from '../support/run-messages.js';

const POLICY = CompletionPolicy.parse({ checks: ['edits-verified'] });
const TASK = task('Fix the bug in the parser.');
const EDIT: Called = { name: 'edit_file', args: { path: 'a.ts' } };

describe('readingNudge', () => {
  it('D-15: given a run that only reads, then it is nudged after 4, 6 and 8 turns, each once, ever more urgently', () => {
    const nudges = play(reads(12, 0), TASK);
    expect(nudges.map(({ turn }) => turn)).toEqual([4, 6, 8]);
    expect(nudges[0]?.text).toContain('begin with the change');
    expect(nudges[1]?.text).toContain('in your next turn');
    expect(nudges[2]?.text).toContain('Stop reading now');
  });

  it('D-15: given a task that is a question, then there is one gentle word at 8', () => {
    const nudges = play(reads(12, 0), task('Why does the parser fail?\n'));
    expect(nudges.map(({ turn }) => turn)).toEqual([8]);
    expect(nudges[0]?.text).toContain('answer the question');
  });

  it('D-15: given an edit between, then the count begins anew, and what was said is not said again', () => {
    const nudges = play([...reads(4, 0), [EDIT], ...reads(6, 10)], TASK);
    expect(nudges.map(({ turn, what }) => [turn, what])).toEqual([
      [4, '4 turns of reading'],
      [11, '6 turns of reading'],
    ]);
  });

  it('D-15: given the same part of one file read twice, then that is said once', () => {
    const again: Called[][] = [[readOf('a.ts', 0)], [readOf('b.ts', 0)], [readOf('a.ts', 0)]];
    const nudges = play([...again, [EDIT], ...again], TASK);
    expect(nudges.map(({ turn, what }) => [turn, what])).toEqual([[3, 'the same read again']]);
    expect(nudges[0]?.text).toContain('a.ts');
  });

  it('D-15: given the same part of one file twice in one turn, then that is said', () => {
    expect(play([[readOf('a.ts', 0), readOf('a.ts', 0)]], TASK)).toMatchObject([{ what: 'the same read again' }]);
  });

  it('given other parts of one file, or an edit between two reads, then nothing is said', () => {
    expect(play([[readOf('a.ts', 1)], [readOf('a.ts', 100)]], TASK)).toEqual([]);
    expect(play([[readOf('a.ts', 1)], [EDIT], [readOf('a.ts', 1)]], TASK)).toEqual([]);
  });

  it('a turn that only writes down its plan is neither reading nor doing', () => {
    const withPlan = [...reads(2, 0), [{ name: 'update_plan', args: { steps: [] } }], ...reads(2, 5)];
    expect(play(withPlan, TASK)).toMatchObject([{ what: '4 turns of reading', turn: 5 }]);
  });

  it('given a run whose end needs no edit, then it may read as long as it likes', () => {
    const facts = { work: workOf(POLICY, turns(...reads(20, 0))), task: TASK };
    expect(readingNudge(CompletionPolicy.parse({}), facts)).toBeUndefined();
    expect(readingNudge(CompletionPolicy.parse({ checks: ['plan-finished'] }), facts)).toBeUndefined();
    expect(readingNudge(CompletionPolicy.parse({ checks: ['phases-done'] }), facts)).toBeDefined();
  });
});

/** Plays a run turn by turn; what it was told is kept in its record. */
function play(given: readonly (readonly Called[])[], about: Message): (ReadingNudge & { turn: number })[] {
  let work = WorkRecord.parse({});
  return given.flatMap((called, index) => {
    work = workOf(POLICY, turns(called), work);
    const nudge = readingNudge(POLICY, { work, task: about });
    if (nudge) work = { ...work, told: nudge.told };
    return nudge ? [{ ...nudge, turn: index + 1 }] : [];
  });
}

function reads(count: number, from: number): Called[][] {
  return Array.from({ length: count }, (_, index) => [readOf(`file-${from + index}.ts`, 0)]);
}

function readOf(path: string, offset: number): Called {
  return { name: 'read_file', args: { path, offset } };
}
