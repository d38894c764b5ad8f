import { describe, expect, it } from 'vitest';
import { checkVerbInput } from '../../../src/client/validate/run-input.js';
import { PAYLOAD_LIMITS } from '../../../src/contracts/constants/limits.js';
import { SIGNALS, UPDATES } from '../../../src/contracts/verbs/index.js';
import { refusal } from '../support/refusal.js';

const checkSteer = (given: unknown) => checkVerbInput(SIGNALS.steer, given);
const checkHold = (given: unknown) => checkVerbInput(SIGNALS.hold, given);
const checkExtend = (given: unknown) => checkVerbInput(UPDATES.extend, given);

describe('a message', () => {
  it.each(['', ' \n '])('B1: %j is no message', (text) => {
    expect(refusal(() => checkSteer(text)).line).toBe('EMPTY_MESSAGE: message has no text and no attachment');
  });

  it('an over-size message is refused: as an update it would end the run', () => {
    const text = '€'.repeat(PAYLOAD_LIMITS.messageBytesMax / 3 + 1);
    expect(refusal(() => checkSteer(text)).line).toMatch(/^MESSAGE_TOO_LARGE: message: limit 1048576 bytes, got \d+$/u);
  });

  it.each(['now', '', 7, null])('mode %j is none: the three there are are named', (mode) => {
    expect(refusal(() => checkSteer({ text: 'x', mode })).line).toMatch(/^BAD_OPTION: mode: boundary, preempt or interrupt, got /u);
  });

  it.each([0, -1, 999, 1.5, 2_592_000_001, Number.NaN, '5s', null])('ttlMs %j is refused with its bounds', (ttlMs) => {
    expect(refusal(() => checkSteer({ text: 'x', ttlMs })).line).toMatch(
      /^BAD_OPTION: ttlMs: integer 1000–2592000000, in milliseconds, got /u,
    );
  });

  it('a mode and a time to live are sent as they are', () => {
    expect(checkSteer({ text: 'x', mode: 'interrupt', ttlMs: 5_000 })).toEqual({ text: 'x', mode: 'interrupt', ttlMs: 5_000 });
  });

  it('text that is no string, an unknown key and a bad id are named', () => {
    expect(refusal(() => checkSteer({ text: 7 })).line).toBe('BAD_OPTION: text: a string, got 7');
    expect(refusal(() => checkSteer({ text: 'x', txt: 1 })).line).toBe('UNKNOWN_OPTION: txt (did you mean text?)');
    expect(refusal(() => checkSteer({ text: 'x', id: 'a/b' })).line).toMatch(/^BAD_MESSAGE_ID: /u);
  });
});

describe('a hold', () => {
  it.each([
    [{ ttlMs: 999 }, 'BAD_OPTION: ttlMs: integer 1000–86400000, in milliseconds, got 999'],
    [{ ttlMs: 86_400_001 }, 'BAD_OPTION: ttlMs: integer 1000–86400000, in milliseconds, got 86400001'],
    [{ by: 7 }, 'BAD_OPTION: by: a string, got 7'],
    [{ ttlms: 5 }, 'UNKNOWN_OPTION: ttlms (did you mean ttlMs?)'],
    [null, 'BAD_OPTION: expected an object, got null'],
  ])('%j is refused', (hold, line) => {
    expect(refusal(() => checkHold(hold))).toEqual({ line, exitCode: 2 });
  });

  it('who holds is made fit and short: operators read it', () => {
    expect(checkHold({ by: `a\u0000${'n'.repeat(500)}`, ttlMs: 1_000 })).toEqual({ by: `a\u2400${'n'.repeat(198)}`, ttlMs: 1_000 });
    expect(checkHold({})).toEqual({});
  });
});

describe('an extension', () => {
  it.each([
    [{}],
    [{ turns: 0 }],
    [{ turns: 1.5 }],
    [{ costUsd: -1 }],
    [{ tokens: '5' }],
    [{ deadlineMs: Number.POSITIVE_INFINITY }],
    [{ turn: 5 }],
  ])('%j is refused', (by) => {
    expect(refusal(() => checkExtend(by)).line).toMatch(/^(BAD|UNKNOWN)_OPTION: /u);
  });
});
