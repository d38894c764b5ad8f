import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LOOP_LIMITS } from '../../../../src/contracts/constants/limits.js';
import { LoopMemory } from '../../../../src/contracts/schemas/carried-state.js';
import type { JsonValue, Message, ToolCallPart } from '../../../../src/contracts/schemas/message.js';
import { LoopPolicy } from '../../../../src/contracts/schemas/policy.js';
import { judgeLoop, type LoopVerdict, rememberTurn } from '../../../../src/workflows/policies/loop/loop-guard.js';

const DEFAULT = LoopPolicy.parse({});
const EMPTY = LoopMemory.parse({});

/** One turn: what is called, and what that gives. */
interface Turn {
  readonly calls: readonly ToolCallPart[];
  readonly says: string;
  readonly isError?: boolean;
}

describe('judgeLoop: the same turn again', () => {
  it('L10: given the same call 20 times with the same result, then it is nudged at 3, blocked at 4 and stopped at 5', () => {
    expect(kinds(play(times(20, turn('a'))))).toEqual(['go', 'go', 'nudge', 'block', 'stop']);
  });

  it('C-23: given a result that changes every time, then a poll goes on freely up to the ceiling', () => {
    const verdicts = play(times(40, turn('status')).map((one, index) => ({ ...one, says: `${index}%` })));
    expect(new Set(kinds(verdicts).slice(0, 24))).toEqual(new Set(['go']));
    expect(verdicts.at(24)).toMatchObject({ kind: 'nudge', pattern: 'ceiling', count: 25 });
    expect(verdicts.at(-1)).toMatchObject({ kind: 'stop', pattern: 'ceiling', count: 30 });
  });

  it('C-23: given results that differ only in volatile fields, then it is a loop', () => {
    const turns = times(6, turn('a')).map((one, index) => ({ ...one, says: `ok in ${index} ms at 13:38:4${index}` }));
    expect(kinds(play(turns))).toEqual(['go', 'go', 'nudge', 'block', 'stop']);
  });

  it('given a result that changed once, then the streak begins anew with that result', () => {
    const verdicts = play([turn('a', 'old'), turn('a', 'old'), turn('a', 'new'), turn('a', 'new'), turn('a', 'new'), turn('a', 'new')]);
    expect(kinds(verdicts)).toEqual(['go', 'go', 'nudge', 'go', 'nudge', 'block']);
  });

  it('given another turn between, then the streak begins anew', () => {
    expect(kinds(play([...times(2, turn('a')), turn('b'), ...times(2, turn('a')), turn('c')]))).toEqual(times(6, 'go'));
  });

  it('A-18: given a batch whose first call is always the same, then another second call makes it another turn', () => {
    const turns = times(12, 0).map((_, index) => batch(`out ${index}`, call('git_status'), call('read_file', { path: `${index}` })));
    expect(kinds(play(turns))).toEqual(times(12, 'go'));
  });

  it('E-12: given the same batch in another order and with its keys in another order, then it is the same turn', () => {
    const one = batch('x', call('a', { p: 1, q: 2 }), call('b'));
    const other = batch('x', call('b'), call('a', { q: 2, p: 1 }));
    expect(kinds(play([one, other, one, other, one]))).toEqual(['go', 'go', 'nudge', 'block', 'stop']);
  });

  it('a block names every call of the turn, says why and what to do, and warns of the end', () => {
    const verdicts = play(times(4, batch('x', call('a'), call('b'))));
    expect(verdicts.at(-1)).toMatchObject({ kind: 'block', pattern: 'repeat', count: 4, indexes: [0, 1] });
    expect(textIn(verdicts.at(-1))).toMatch(/4 turns in a row.*did not change.*Do something else.*once more ends the run/u);
  });

  it('a nudge names the tools and the count, and a stop says why', () => {
    const verdicts = play(times(5, turn('read_file')));
    expect(textIn(verdicts[2])).toMatch(/\(read_file\) were made in 3 turns in a row.*After 5 such turns the run ends/u);
    expect(textIn(verdicts[4])).toMatch(/\(read_file\) were made in 5 turns in a row.*no progress/u);
  });

  it('a blocked turn that a wait interrupted is remembered as blocked from its result alone', () => {
    const calls = [call('a')];
    let memory = rememberTurn(EMPTY, calls, [result('ok')]);
    const blocked = play(times(4, turn('a'))).at(-1);
    memory = rememberTurn(memory, calls, [result(`blocked by loop guard: ${textIn(blocked)}`, true)]);
    expect(new Set(memory.turns).size).toBe(1);
  });
});

describe('judgeLoop: two turns in change', () => {
  it('A-18: given A B A B A B, then the sixth is nudged, and two turns more end the run', () => {
    const verdicts = play(times(12, 0).map((_, index) => turn(index % 2 ? 'b' : 'a')));
    expect(kinds(verdicts)).toEqual([...times(5, 'go'), 'nudge', 'go', 'stop']);
    expect(verdicts.at(-1)).toMatchObject({ pattern: 'alternation', count: 8 });
  });

  it('A-18: given at most two different turns among the last eight, then the eighth is nudged, and two more end the run', () => {
    const verdicts = play('aabaabbaabbaab'.split('').map((name) => turn(name)));
    expect(kinds(verdicts)).toEqual([...times(7, 'go'), 'nudge', 'go', 'stop']);
    expect(verdicts.at(-1)).toMatchObject({ pattern: 'two-turns', count: 10 });
  });

  it('given an alternation in which one of the two gives something new, then it goes on', () => {
    const verdicts = play(times(20, 0).map((_, index) => turn(index % 2 ? 'sleep' : 'status', index % 2 ? '' : `${index}%`)));
    expect(kinds(verdicts)).toEqual(times(20, 'go'));
  });

  it('given edit and test in change, then other edits are other turns and it goes on', () => {
    const verdicts = play(times(58, 0).map((_, index) => (index % 2 ? turn('test', '3 failed') : editTurn(index))));
    expect(kinds(verdicts)).toEqual(times(58, 'go'));
  });

  it('A-18: fewer than three turns are never a loop', () => {
    fc.assert(
      fc.property(fc.array(anyTurn, { maxLength: 2 }), (turns) => {
        expect(kinds(play(turns))).toEqual(turns.map(() => 'go'));
      }),
    );
  });
});

describe('judgeLoop: the ceiling', () => {
  it('given slightly varied arguments with the same result, then 25 turns are nudged and 30 end the run', () => {
    const verdicts = play(times(40, 0).map((_, index) => batch('no matches', call('search', { q: `cats ${index}` }))));
    expect(kinds(verdicts)).toEqual([...times(24, 'go'), 'nudge', ...times(4, 'go'), 'stop']);
    expect(verdicts.at(-1)).toMatchObject({ pattern: 'same-result', count: 30 });
  });

  it('given other arguments each time and the same failure, then it is no progress either', () => {
    const verdicts = play(words(40).map((word) => ({ ...batch('connection refused', call('fetch', { host: word })), isError: true })));
    expect(verdicts.at(-1)).toMatchObject({ kind: 'stop', pattern: 'same-result', count: 30 });
  });

  it('given other arguments each time and the same success, then it is work and goes on', () => {
    const verdicts = play(words(60).map((word) => batch('sent', call('send_mail', { to: word }))));
    expect(kinds(verdicts)).toEqual(times(60, 'go'));
  });

  it('given a poll that sleeps in between, then the ceiling counts the polls', () => {
    const verdicts = play(times(80, 0).map((_, index) => turn(index % 2 ? 'sleep' : 'status', `${index}`)));
    expect(verdicts.length).toBe(59);
    expect(verdicts.at(-1)).toMatchObject({ kind: 'stop', pattern: 'ceiling', count: 30 });
  });

  it('given a circle of three turns that give nothing new, then it ends at the ceiling', () => {
    const verdicts = play(times(60, 0).map((_, index) => turn('abc'[index % 3] ?? 'a')));
    expect(verdicts.at(-1)).toMatchObject({ kind: 'stop', pattern: 'cycle', count: 30 });
    expect(verdicts.length).toBe(33);
  });
});

describe('judgeLoop: onLoop', () => {
  it('error: the first loop found ends the run (three equal turns, six in change)', () => {
    const policy = { ...DEFAULT, onLoop: 'error' as const };
    expect(kinds(play(times(9, turn('a')), policy))).toEqual(['go', 'go', 'stop']);
    expect(
      kinds(
        play(
          'abababab'.split('').map((name) => turn(name)),
          policy,
        ),
      ),
    ).toEqual([...times(5, 'go'), 'stop']);
    const polls = times(40, turn('status')).map((one, index) => ({ ...one, says: `${index}` }));
    expect(play(polls, policy).length).toBe(30);
  });

  it('nudge: once for a streak, and the run goes on', () => {
    const verdicts = play(times(12, turn('a')), { ...DEFAULT, onLoop: 'nudge' });
    expect(kinds(verdicts)).toEqual(['go', 'go', 'nudge', ...times(9, 'go')]);
  });

  it('off: nothing is judged', () => {
    expect(kinds(play(times(80, turn('a')), { ...DEFAULT, onLoop: 'off' }))).toEqual(times(80, 'go'));
  });

  it('thresholds of its own: stop at three wins over nudge and block', () => {
    const verdicts = play(times(9, turn('a')), { ...DEFAULT, nudgeAt: 2, stopAt: 3 });
    expect(kinds(verdicts)).toEqual(['go', 'nudge', 'stop']);
  });
});

const anyTurn = fc.record({
  calls: fc.array(fc.constantFrom(call('a'), call('b'), call('c', { n: 1 })), { maxLength: 3 }),
  says: fc.constantFrom('x', 'y'),
  isError: fc.boolean(),
});
const anyPolicy = fc.record({
  onLoop: fc.constantFrom('nudge-then-stop', 'error', 'nudge', 'off'),
  nudgeAt: fc.integer({ min: 2, max: 8 }),
  blockAt: fc.integer({ min: 2, max: 8 }),
  stopAt: fc.integer({ min: 2, max: 8 }),
}) satisfies fc.Arbitrary<LoopPolicy>;

describe('judgeLoop: whatever comes', () => {
  it('never throws, judges alike what is alike, and its memory stays bounded and is JSON', () => {
    fc.assert(
      fc.property(fc.array(anyTurn, { maxLength: 90 }), anyPolicy, (turns, policy) => {
        let memory = EMPTY;
        for (const { calls, says, isError } of turns) {
          const verdict = judgeLoop(memory, calls, policy);
          expect(judgeLoop(LoopMemory.parse(JSON.parse(JSON.stringify(memory))), calls, policy)).toEqual(verdict);
          memory = rememberTurn(
            memory,
            calls,
            calls.map(() => result(says, isError)),
          );
        }
        expect(memory.turns.length).toBeLessThanOrEqual(LOOP_LIMITS.memoryTurns);
        expect(JSON.stringify(memory).length).toBeLessThan(10_000);
      }),
      { numRuns: 50 },
    );
  });

  it('the longer the same turn goes on, the harder the verdict', () => {
    fc.assert(
      fc.property(anyPolicy, (policy) => {
        const { nudgeAt, blockAt, stopAt } = policy;
        fc.pre(policy.onLoop === 'nudge-then-stop' && nudgeAt < blockAt && blockAt < stopAt);
        const verdicts = kinds(play(times(9, turn('a')), policy)).filter((kind) => kind !== 'go');
        const order = ['nudge', 'block', 'stop'];
        expect(verdicts).toEqual(verdicts.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)));
        expect(verdicts[0]).toBe('nudge');
        expect(verdicts.at(-1)).toBe('stop');
      }),
    );
  });

  it('under the defaults no run of one repeated turn goes beyond the ceiling', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('x', 'y', 'z'), { minLength: 30, maxLength: 60 }), (results) => {
        const verdicts = play(results.map((says) => turn('a', says)));
        expect(verdicts.at(-1)?.kind).toBe('stop');
        expect(verdicts.length).toBeLessThanOrEqual(LOOP_LIMITS.ceilingTurns);
      }),
    );
  });
});

/** Plays turns as the loop does: judged, then run, then remembered; a blocked turn has the guard's own results. Ends at a stop. */
function play(turns: readonly Turn[], policy: LoopPolicy = DEFAULT): LoopVerdict[] {
  let memory = EMPTY;
  const verdicts: LoopVerdict[] = [];
  for (const { calls, says, isError = false } of turns) {
    const verdict = judgeLoop(memory, calls, policy);
    verdicts.push(verdict);
    if (verdict.kind === 'stop') break;
    const blocked = new Set(verdict.kind === 'block' ? verdict.indexes : []);
    const results = calls.map((_, index) => (blocked.has(index) ? result(textIn(verdict), true) : result(says, isError)));
    memory = rememberTurn(memory, calls, results);
  }
  return verdicts;
}

function kinds(verdicts: readonly LoopVerdict[]): LoopVerdict['kind'][] {
  return verdicts.map(({ kind }) => kind);
}

function textIn(verdict: LoopVerdict | undefined): string {
  return verdict && 'text' in verdict ? verdict.text : '';
}

function turn(name: string, says = 'the same'): Turn {
  return batch(says, call(name));
}

function batch(says: string, ...calls: ToolCallPart[]): Turn {
  return { calls, says };
}

function editTurn(index: number): Turn {
  return batch('edited a.ts', call('edit_file', { path: 'a.ts', newText: `${words(60)[index]}` }));
}

function call(name: string, args: JsonValue = {}): ToolCallPart {
  return { type: 'tool_call', callId: `${name}-1`, name, args };
}

function result(text: string, isError = false): Message {
  return { id: 'r', role: 'tool', parts: [{ type: 'tool_result', callId: 'r', isError, parts: [{ type: 'text', text }] }] };
}

/** Words that differ by more than digits and punctuation. */
function words(count: number): string[] {
  return times(count, 0).map((_, index) => String.fromCharCode(97 + (index % 26)).repeat(1 + Math.floor(index / 26)));
}

function times<Item>(count: number, item: Item): Item[] {
  return Array.from({ length: count }, () => item);
}
