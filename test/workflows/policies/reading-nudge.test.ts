import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/contracts/message.js';
import { CompletionPolicy } from '../../../src/contracts/policy.js';
import { type ReadingNudge, readingNudge } from '../../../src/workflows/policies/reading-nudge.js';
import { type Called, effectOf, said, task, turns } from './run-messages.js';

const POLICY = CompletionPolicy.parse({ checks: ['edits-verified'] });
const TASK = 'Fix the bug in the parser.';

describe('readingNudge', () => {
  it('D-15: given a run that only reads, then it is nudged after 4, 6 and 8 turns, each once, ever more urgently', () => {
    const nudges = playReading(12, TASK);
    expect(nudges.map(({ turn }) => turn)).toEqual([4, 6, 8]);
    expect(nudges[0]?.text).toContain('begin with the change');
    expect(nudges[1]?.text).toContain('in your next turn');
    expect(nudges[2]?.text).toContain('Stop reading now');
  });

  it('D-15: given a task that is a question, then there is one gentle word at 8', () => {
    const nudges = playReading(12, 'Why does the parser fail?\n');
    expect(nudges.map(({ turn }) => turn)).toEqual([8]);
    expect(nudges[0]?.text).toContain('answer the question');
  });

  it('D-15: given an edit between, then the count begins anew, and what was said is not said again', () => {
    const before = [...reads(4, 0), [{ name: 'edit_file', args: { path: 'a' } }]];
    const nudged = [task(TASK), ...turns(...before), said('nudge', nudgeAfter(turns(...reads(4, 0)))?.text ?? '')];
    expect(readingNudge(POLICY, { messages: [...nudged, ...turns(...reads(5, 10))], effectOf })).toBeUndefined();
    expect(readingNudge(POLICY, { messages: [...nudged, ...turns(...reads(6, 10))], effectOf })?.what).toBe('6 turns of reading');
  });

  it('D-15: given the same part of one file read twice, then that is said once', () => {
    const again: Called[][] = [[readOf('a.ts', 0)], [readOf('b.ts', 0)], [readOf('a.ts', 0)]];
    const nudge = nudgeAfter(turns(...again));
    expect(nudge).toMatchObject({ what: 'the same read again' });
    expect(nudge?.text).toContain('a.ts');
    expect(nudgeAfter([...turns(...again), said('nudge', nudge?.text ?? '')])).toBeUndefined();
  });

  it('given other parts of one file, or an edit between two reads, then nothing is said', () => {
    expect(nudgeAfter(turns([readOf('a.ts', 1)], [readOf('a.ts', 100)]))).toBeUndefined();
    expect(nudgeAfter(turns([readOf('a.ts', 1)], [{ name: 'edit_file', args: { path: 'a.ts' } }], [readOf('a.ts', 1)]))).toBeUndefined();
  });

  it('a turn that only writes down its plan is neither reading nor doing', () => {
    const withPlan = [...reads(2, 0), [{ name: 'update_plan', args: { steps: [] } }], ...reads(2, 5)];
    expect(nudgeAfter(turns(...withPlan))?.what).toBe('4 turns of reading');
  });

  it('given a run whose end needs no edit, then it may read as long as it likes', () => {
    const facts = { messages: [task(TASK), ...turns(...reads(20, 0))], effectOf };
    expect(readingNudge(CompletionPolicy.parse({}), facts)).toBeUndefined();
    expect(readingNudge(CompletionPolicy.parse({ checks: ['plan-finished'] }), facts)).toBeUndefined();
    expect(readingNudge(CompletionPolicy.parse({ checks: ['phases-done'] }), facts)).toBeDefined();
  });
});

/** Plays a run that reads another file every turn; what is said stands in its transcript. */
function playReading(count: number, text: string): (ReadingNudge & { turn: number })[] {
  const messages: Message[] = [task(text)];
  const nudges: (ReadingNudge & { turn: number })[] = [];
  for (let turn = 1; turn <= count; turn += 1) {
    const [asked, result] = turns([readOf(`file-${turn}.ts`, 0)]);
    if (!asked || !result) throw new Error('a turn has its call and its result');
    messages.push(withCallId(asked, turn), withCallId(result, turn));
    const nudge = readingNudge(POLICY, { messages, effectOf });
    if (!nudge) continue;
    nudges.push({ ...nudge, turn });
    messages.push(said('nudge', nudge.text));
  }
  return nudges;
}

function withCallId(message: Message, turn: number): Message {
  const parts = message.parts.map((part) =>
    part.type === 'tool_call' || part.type === 'tool_result' ? { ...part, callId: `t${turn}` } : part,
  );
  return { ...message, parts };
}

function nudgeAfter(messages: readonly Message[]): ReadingNudge | undefined {
  return readingNudge(POLICY, { messages: [task(TASK), ...messages], effectOf });
}

function reads(count: number, from: number): Called[][] {
  return Array.from({ length: count }, (_, index) => [readOf(`file-${from + index}.ts`, 0)]);
}

function readOf(path: string, offset: number): Called {
  return { name: 'read_file', args: { path, offset } };
}
