import { describe, expect, it } from 'vitest';
import { NO_WORK } from '../../../src/contracts/initial-state.js';
import { toolCallsOf } from '../../../src/contracts/message-text.js';
import { DEFAULT_POLICY } from '../../../src/contracts/schemas/policy.js';
import { GUARDS } from '../../../src/workflows/policies/loop/guards.js';
import { GuardStates } from '../../../src/workflows/state/guards.js';
import { turns } from '../policies/support/run-messages.js';

const CALL = { name: 'list_files', args: { path: 'src' } };

describe('GuardStates', () => {
  it('the loop guard nudges the third equal turn, and remembers through a continue-as-new', () => {
    const states = new GuardStates();
    for (const turn of [1, 2]) expect(play(states, turn)).toBeUndefined();
    const carried = states.carry(NO_WORK);
    expect(carried.loop.turns).toHaveLength(2);
    expect(play(new GuardStates(carried), 3)).toMatchObject({ kind: 'nudge', event: { type: 'loop.detected', count: 3 } });
    expect(play(new GuardStates(), 3)).toBeUndefined();
  });

  it('a message of a person makes the loop guard forget', () => {
    const states = new GuardStates();
    for (const turn of [1, 2]) play(states, turn);
    states.afterMessage();
    expect(play(states, 3)).toBeUndefined();
  });

  it('the reading guard nudges after four turns of reading, once, and not in a turn that was objected to', () => {
    const work = { ...NO_WORK, calls: 4, reading: { turns: 4, reads: [] } };
    const policy = { ...DEFAULT_POLICY, completion: { ...DEFAULT_POLICY.completion, checks: ['edits-verified' as const] } };
    const states = new GuardStates();
    const turn = { turn: 4, calls: [], policy, work, task: undefined, results: [] };
    expect(states.remember(turn, true)).toBeUndefined();
    expect(states.remember(turn, false)).toMatchObject({ kind: 'nudge', decision: 'turn 4: nudged (4 turns of reading)' });
    const carried = states.carry(work);
    expect(carried.work.told).toMatchObject({ readingTurns: 4, verify: false });
    expect(new GuardStates(carried).remember(turn, false)).toBeUndefined();
  });

  it('the first two guards are carried in the fields that older builds read, every other one under its name', () => {
    const states = new GuardStates();
    expect(states.carry(NO_WORK)).toEqual({ loop: { turns: [] }, work: NO_WORK });
    const broken = { type: 'tool_call', callId: 'a', name: 'look', args: {}, argsText: '{' } as const;
    const turn = { turn: 1, calls: [broken], policy: DEFAULT_POLICY, work: NO_WORK, task: undefined };
    states.remember({ ...turn, results: [] }, false);
    const carried = states.carry(NO_WORK);
    expect(carried.guards).toMatchObject({ arguments: { turns: 1 } });
    expect(Object.keys(carried.guards ?? {})).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(?:loop|reading)$/u)]));
    const next = new GuardStates(carried);
    next.remember({ ...turn, results: [] }, false);
    expect(next.judge(turn)).toMatchObject({ kind: 'stop', event: { pattern: 'bad-arguments', count: 3 } });
  });

  it('no two guards have one name, and every initial state is small JSON', () => {
    expect(new Set(GUARDS.map(({ name }) => name)).size).toBe(GUARDS.length);
    for (const { initialState } of GUARDS) expect(JSON.stringify(initialState).length).toBeLessThan(200);
  });
});

/** One turn with the same call and the same result; gives what a guard said of it before the call ran. */
function play(states: GuardStates, turn: number) {
  const [answer, ...results] = turns([CALL]);
  const calls = answer ? toolCallsOf(answer) : [];
  const guarded = { turn, calls, policy: DEFAULT_POLICY, work: NO_WORK, task: undefined };
  const objection = states.judge(guarded);
  states.remember({ ...guarded, results }, objection !== undefined);
  return objection;
}
