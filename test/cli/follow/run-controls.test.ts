import { describe, expect, it } from 'vitest';
import type { WatchItem } from '../../../src/client/watch/watch-run.js';
import { PerdureError } from '../../../src/contracts/perdure-error.js';
import { BUDGET_APPROVAL } from '../../../src/contracts/text/ids.js';
import { event, RUNNING } from '../terminal/support/items.js';
import { Desk } from './support/desk.js';

const PROGRESS: WatchItem = { type: 'progress', progress: RUNNING };

function asked(callId = 'c1'): WatchItem {
  const args = '{"target":"prod"}';
  return event({ type: 'approval.asked', turn: 1, callId, tool: 'deploy', title: 'deploy', args, by: 'tool', reason: '' });
}

function question(choices?: string[]): WatchItem {
  const more = choices ? { choices } : {};
  return event({ type: 'question.asked', turn: 1, callId: 'q1', question: 'Where?', by: 'agent', expires: 'x', ...more });
}

function take(desk: Desk, ...items: readonly WatchItem[]): void {
  for (const item of items) desk.controls.take(item);
}

describe('the keys while a run is followed', () => {
  it.each([
    ['y', 'approve'],
    ['n', 'deny'],
  ])('%s decides the approval that is shown: %s', async (key, verb) => {
    const desk = new Desk();
    take(desk, asked(), PROGRESS);
    await desk.takesKeys();
    desk.press({ text: key });
    expect(desk.sent).toEqual([[verb, 'c1', { by: 'ada' }]]);
    expect(desk.shown).toBe('');
  });

  it('a key within half a second after an approval appears is text, and decides nothing', () => {
    const desk = new Desk();
    desk.atOnce(() => {
      take(desk, asked(), PROGRESS);
      desk.press({ text: 'yes' }, 'enter');
    });
    expect(desk.sent).toEqual([['steer', { text: 'yes' }]]);
  });

  it('while a text is typed, y and n belong to it', async () => {
    const desk = new Desk();
    desk.press({ text: 'on' });
    take(desk, asked(), PROGRESS);
    await desk.takesKeys();
    desk.press({ text: 'ly' }, 'enter');
    expect(desk.sent).toEqual([['steer', { text: 'only' }]]);
  });

  it('an approval that was decided before the watch, or elsewhere, is not shown', () => {
    const desk = new Desk();
    take(desk, asked());
    expect(desk.shown).toBe('');
    take(desk, event({ type: 'approval.decided', callId: 'c1', tool: 'deploy', decision: 'approved', by: 'bob' }), PROGRESS);
    expect(desk.shown).toBe('');
    take(desk, asked('c2'), PROGRESS, asked('c3'), PROGRESS);
    expect(desk.shown).toContain('1 more waiting');
    take(desk, event({ type: 'approval.decided', callId: 'c2', tool: 'deploy', decision: 'approved', by: 'bob' }));
    expect(desk.shown).toContain('deploy');
    expect(desk.shown).not.toContain('more waiting');
  });

  it('a refused decision is reported, and asked for again', async () => {
    const desk = new Desk();
    desk.refusal = new PerdureError('NO_WORKER', 'not accepted', 5);
    take(desk, asked(), PROGRESS);
    await desk.takesKeys();
    desk.press({ text: 'y' });
    await expect.poll(() => desk.shown).toContain('deploy');
    expect(desk.printed).toContain('NO_WORKER: not accepted');
  });

  it('a reached limit cannot be approved with a key, and is denied with n', async () => {
    const desk = new Desk();
    const limit = {
      type: 'approval.asked',
      turn: 1,
      callId: BUDGET_APPROVAL,
      tool: 'extend',
      title: 'max_turns',
      by: 'budget',
      reason: '',
    } as const;
    take(desk, event(limit), PROGRESS);
    await expect.poll(() => desk.shown).toContain('perdure extend r');
    desk.press({ text: 'y' }, 'backspace', { text: 'n' });
    expect(desk.sent).toEqual([['deny', BUDGET_APPROVAL, { by: 'ada' }]]);
  });

  it('a line answers the question that is shown; y and n are answers like others', () => {
    const desk = new Desk();
    take(desk, question(['staging', 'production']), PROGRESS);
    expect(desk.shown).toContain('  2. production');
    desk.press('enter', { text: 'y' }, 'backspace', { text: '2' }, 'enter');
    expect(desk.sent).toEqual([['answer', 'q1', '2', { by: 'ada' }]]);
  });

  it('a question that appears later is open at once: a line that is typed right then answers it', () => {
    const desk = new Desk();
    take(desk, PROGRESS, question());
    desk.press({ text: 'x' }, 'enter');
    expect(desk.sent).toEqual([['answer', 'q1', 'x', { by: 'ada' }]]);
  });

  it('a line is a message to the agent', () => {
    const desk = new Desk();
    desk.press({ text: 'Use tabs!' }, 'backspace', { text: '.' }, 'enter', 'enter');
    expect([desk.sent, desk.printed]).toEqual([[['steer', { text: 'Use tabs.' }]], ['> Use tabs.']]);
  });

  it('Ctrl-C clears a text, then holds the run; a message then interrupts the model, and the run continues', async () => {
    const desk = new Desk();
    desk.press({ text: 'x' }, 'interrupt', 'interrupt', { text: 'Stop that.' }, 'enter');
    await expect.poll(() => desk.sent).toHaveLength(3);
    expect(desk.sent).toEqual([['hold', { by: 'ada' }], ['steer', { text: 'Stop that.', mode: 'interrupt' }], ['release']]);
  });

  it('Enter without a text continues a held run', async () => {
    const desk = new Desk();
    desk.press('interrupt', 'enter');
    await expect.poll(() => desk.sent).toEqual([['hold', { by: 'ada' }], ['release']]);
  });

  it('a second Ctrl-C releases the run and detaches, also if the release fails', async () => {
    for (const refusal of [undefined, new PerdureError('RUN_CLOSED', 'closed', 4)]) {
      const desk = new Desk();
      desk.press('interrupt');
      desk.refusal = refusal;
      desk.press('interrupt');
      await expect.poll(() => desk.sent).toEqual([['hold', { by: 'ada' }], ['release'], ['detach']]);
    }
  });

  it('one key decides one approval: the next one takes no key before it was on the screen for half a second', async () => {
    const desk = new Desk();
    take(desk, asked('c1'), asked('c2'), PROGRESS);
    await desk.takesKeys();
    desk.atOnce(() => desk.press({ text: 'yy' }));
    expect(desk.sent).toEqual([['approve', 'c1', { by: 'ada' }]]);
  });

  it('an approval that appears because the one before was decided elsewhere takes no key at once', async () => {
    const desk = new Desk();
    take(desk, asked('c1'), asked('c2'), PROGRESS);
    await desk.takesKeys();
    desk.atOnce(() => {
      take(desk, event({ type: 'approval.decided', callId: 'c1', tool: 'deploy', decision: 'approved', by: 'bob' }));
      desk.press({ text: 'y' });
    });
    expect(desk.sent).toEqual([]);
  });

  it('a call whose arguments were cut in its event is read and printed as a whole before y approves it', async () => {
    const desk = new Desk();
    const command = `${'x'.repeat(2_000)} \u202eMARK`;
    desk.pending = [{ callId: 'c1', tool: 'run_command', args: { command } }];
    take(
      desk,
      event({
        type: 'approval.asked',
        turn: 1,
        callId: 'c1',
        tool: 'run_command',
        title: 'x',
        args: '{"co… [cut]',
        by: 'tool',
        reason: '',
      }),
      PROGRESS,
    );
    await desk.takesKeys();
    expect(desk.printed.map((row) => row.replace('  │ ', '')).join('')).toContain('\\u202eMARK');
  });

  it('a call beyond 8,000 characters is not approved before v printed the rest', async () => {
    const desk = new Desk();
    desk.pending = [{ callId: 'c1', tool: 'run_command', args: { command: `${'x'.repeat(9_000)}MARK` } }];
    take(desk, event({ type: 'approval.asked', turn: 1, callId: 'c1', tool: 'run_command', title: 'x', by: 'tool', reason: '' }), PROGRESS);
    await expect.poll(() => desk.shown).toContain('v view the rest');
    expect(desk.printed.join('')).toMatch(/… 1,\d+ more characters/u);
    desk.atOnce(() => {
      desk.press({ text: 'v' });
      expect(desk.printed.map((row) => row.replace('  │ ', '')).join('')).toContain('MARK');
      desk.press({ text: 'y' }, 'backspace');
    });
    expect(desk.sent).toEqual([]);
    await desk.takesKeys();
    desk.press({ text: 'y' });
    expect(desk.sent).toEqual([['approve', 'c1', { by: 'ada' }]]);
  });

  it('a late event of an earlier release does not end a new hold', async () => {
    const desk = new Desk();
    desk.press('interrupt', 'enter', 'interrupt');
    await expect.poll(() => desk.sent).toEqual([['hold', { by: 'ada' }], ['release'], ['hold', { by: 'ada' }]]);
    take(desk, event({ type: 'held', by: 'ada', until: 'x' }), event({ type: 'released', why: 'release' }));
    expect(desk.prompt?.hint).toContain('Ctrl-C detaches');
    take(desk, event({ type: 'held', by: 'ada', until: 'x' }), event({ type: 'released', why: 'expired' }));
    expect(desk.prompt?.hint).toContain('Ctrl-C interrupts');
  });

  it('a message that is refused while the run is held is put back, and the run stays held', async () => {
    const desk = new Desk();
    desk.press('interrupt');
    await expect.poll(() => desk.sent).toHaveLength(1);
    desk.refusal = new PerdureError('TEMPORAL_UNREACHABLE', 'no server', 5);
    desk.press({ text: 'Stop.' }, 'enter');
    await expect.poll(() => desk.prompt?.input.text).toBe('Stop.');
    desk.refusal = undefined;
    desk.press('enter');
    await expect.poll(() => desk.sent.at(-1)).toEqual(['release']);
    expect(desk.sent.filter((each) => JSON.stringify(each) === '["release"]')).toHaveLength(1);
  });

  it('a line keeps the receiver that it had at its first character', () => {
    const desk = new Desk();
    take(desk, PROGRESS);
    desk.press({ text: 'hello' });
    take(desk, question());
    desk.press('enter');
    expect(desk.sent).toEqual([['steer', { text: 'hello' }]]);
    desk.press({ text: '1' });
    take(desk, event({ type: 'question.answered', callId: 'q1', by: 'bob' } as never));
    desk.press('enter');
    expect([desk.sent.length, desk.prompt?.input.text]).toEqual([1, '1']);
  });
});
