import { describe, expect, it, onTestFinished } from 'vitest';
import { LiveDisplay } from '../../../src/cli/terminal/live-display.js';
import { plainLine } from '../../../src/cli/terminal/styled-text.js';
import type { WatchItem } from '../../../src/client/watch/watch-run.js';
import type { Message } from '../../../src/contracts/schemas/message.js';
import { openControls } from '../follow/support/open-controls.js';
import { answer, completed, ended, event, gave, RUNNING, said, streamed, toolCall, toolResult, turnStarted } from './support/items.js';
import { foreignCodes, TestScreen } from './support/screen.js';

const PLAIN = { NO_COLOR: '1' };

function displayAt(columns = 60, rows = 20, env: NodeJS.ProcessEnv = PLAIN): { display: LiveDisplay; screen: TestScreen } {
  const screen = new TestScreen(columns, rows);
  const display = new LiveDisplay({ stderr: screen }, env);
  onTestFinished(() => display.end());
  return { display, screen };
}

/** Shows items as `shownItems` does: the messages come when the display wants them. */
function play(display: LiveDisplay, items: readonly WatchItem[], messages: readonly Message[] = []): void {
  const unread = [...messages];
  for (const item of items) {
    if (display.wantsMessages(item)) display.learn(unread.splice(0));
    display.show(item);
  }
  display.flush();
}

describe('text in its place', () => {
  it('the answers of fast turns stand under their turns, although their tokens arrive before all events', async () => {
    const { display, screen } = displayAt();
    const tokens = [...answer(1, 'First answer.'), ...answer(2, 'Second answer.'), ...answer(3, 'Third answer.')];
    const events = [1, 2, 3].flatMap((turn) => [turnStarted(turn), completed(turn, ''), event({ type: 'turn.ended', turn })]);
    play(display, [...tokens, ...events, ended('Third answer.')]);
    display.end();
    expect(await screen.lines()).toEqual(['', 'turn 1', 'First answer.', '', 'turn 2', 'Second answer.', '', 'turn 3', 'Third answer.']);
    expect([display.hasShown('Third answer.'), display.hasShown('Second answer.')]).toEqual([true, false]);
  });

  it('the reserved final answer stands under the tool calls of the last turn', async () => {
    const { display, screen } = displayAt();
    play(display, [
      turnStarted(1),
      ...answer(1, 'Looking.'),
      streamed(1, { type: 'reset', final: true }),
      streamed(1, { type: 'text', text: 'All I found.' }),
      completed(1, 'Looking.'),
      toolCall(1, 'look', 'look'),
      toolResult(1),
      event({ type: 'turn.ended', turn: 1 }),
      ended('All I found.'),
    ]);
    display.end();
    expect(await screen.lines()).toEqual(['', 'turn 1', 'Looking.', '● look', '  → ok, 120 ms, 2.0 KiB', 'All I found.']);
  });

  it('an answer that was never streamed, or only in part, is shown whole from the transcript, once', async () => {
    const { display, screen } = displayAt();
    const messages = [said(1, { type: 'text', text: 'Part one. Part two.' }), said(2, { type: 'text', text: 'Not streamed.' })];
    play(
      display,
      [
        turnStarted(1),
        streamed(1, { type: 'text', text: 'Part one.' }),
        completed(1, ''),
        turnStarted(2),
        completed(2, ''),
        ended('Not streamed.'),
      ],
      messages,
    );
    display.show(streamed(1, { type: 'text', text: ' Part two.' }));
    display.end();
    expect(await screen.lines()).toEqual(['', 'turn 1', 'Part one. Part two.', '', 'turn 2', 'Not streamed.']);
  });

  it('a second attempt says that the response restarts, and shows it whole', async () => {
    const { display, screen } = displayAt();
    play(display, [
      turnStarted(1),
      streamed(1, { type: 'text', text: 'half an' }),
      { type: 'stream', event: { ...resetOf(2) } },
      ...answer(1, 'Whole.').slice(1),
    ]);
    display.end();
    expect(await screen.lines()).toEqual(['', 'turn 1', '(the response restarts)', 'Whole.']);
  });

  it('a message that is accepted while an answer streams does not break a paragraph', async () => {
    const { display, screen } = displayAt();
    const accepted = event({ type: 'steer.accepted', id: 'm1', position: 0 });
    play(display, [
      turnStarted(1),
      streamed(1, { type: 'text', text: 'One ' }),
      accepted,
      streamed(1, { type: 'text', text: 'two.' }),
      completed(1, ''),
    ]);
    display.end();
    expect(await screen.lines()).toEqual(['', 'turn 1', 'One two.', 'message m1 accepted, position 1']);
  });

  it('a line that is printed while an answer streams is visible below it at once, and does not break a paragraph', async () => {
    const { display, screen } = displayAt();
    play(display, [turnStarted(1), streamed(1, { type: 'text', text: 'One ' })]);
    display.say('a notice');
    play(display, [streamed(1, { type: 'text', text: 'two' })]);
    expect(await screen.lines()).toEqual(['', 'turn 1', 'One two', 'a notice']);
    play(display, [streamed(1, { type: 'text', text: ' three.' }), event({ type: 'model.interrupted', turn: 1, by: 'a message' })]);
    display.end();
    expect(await screen.lines()).toEqual(['', 'turn 1', 'One two three.', 'a notice', '  model call interrupted by a message']);
  });
});

describe('lines that must be seen', () => {
  it('are reported as shown when all of them are on the terminal, not while an answer is open above them', async () => {
    const { display, screen } = displayAt(60, 20);
    const call = Array.from({ length: 40 }, (_, index) => plainLine(`argument ${index}`));
    const shown: string[] = [];
    display.print([plainLine('small')], () => void shown.push('small'));
    expect(shown).toEqual([]);
    display.flush();
    expect(shown).toEqual(['small']);
    play(display, [turnStarted(1), streamed(1, { type: 'text', text: 'One ' })]);
    display.print(call, () => void shown.push('call'));
    display.flush();
    expect((await screen.lines()).join(' ')).not.toContain('argument 0 ');
    expect(shown).toEqual(['small']);
    play(display, [completed(1, '')]);
    expect(shown).toEqual(['small', 'call']);
    expect((await screen.lines()).filter((line) => line.includes('argument'))).toHaveLength(40);
  });

  it('y is offered on 60×20 only when the whole call is on the terminal', async () => {
    const { display, screen } = displayAt(60, 20);
    const args = JSON.stringify({ path: 'x'.repeat(3_000), last: 'MARK' });
    const asked = event({ type: 'approval.asked', turn: 1, callId: 'c1', tool: 'deploy', title: 'deploy', args, by: 'tool', reason: '' });
    const approved: string[] = [];
    // all that y sends
    const controls = openControls({ runId: 'r', approve: (callId: string) => Promise.resolve(void approved.push(callId)) }, { display });
    const progress = { type: 'progress', progress: RUNNING } as const;
    play(display, [turnStarted(1), streamed(1, { type: 'text', text: 'I deploy ' })]);
    for (const item of [asked, progress]) controls.take(item);
    await expect.poll(async () => (await screen.lines()).join(' ')).toContain('approve when the response ends');
    controls.press({ kind: 'insert', text: 'y' });
    controls.press({ kind: 'backspace' });
    expect(approved).toEqual([]);
    play(display, [streamed(1, { type: 'text', text: 'now.' }), completed(1, '')]);
    await expect.poll(async () => (await screen.lines()).join(' '), { timeout: 30_000 }).toContain('y approve');
    expect((await screen.lines()).join('')).toContain('MARK');
    controls.press({ kind: 'insert', text: 'y' });
    expect(approved).toEqual(['c1']);
  });

  it('a suspended display leaves no row, writes nothing, and comes back', async () => {
    const { display, screen } = displayAt();
    play(display, [{ type: 'progress', progress: RUNNING }, turnStarted(1), toolCall(1, 'build', 'build')]);
    display.suspend();
    screen.write('[1]+ Stopped\n$ fg\n');
    display.say('later');
    display.flush();
    expect(await screen.lines()).toEqual(['', 'turn 1', '[1]+ Stopped', '$ fg']);
    display.resume();
    const lines = await screen.lines();
    expect(lines.slice(0, 5)).toEqual(['', 'turn 1', '[1]+ Stopped', '$ fg', 'later']);
    expect(lines.filter((line) => /● build|turn \d+\/20/u.test(line))).toHaveLength(2);
  });
});

describe('rows that change', () => {
  it('a resize to a narrower and to a wider terminal leaves no row behind', async () => {
    const { display, screen } = displayAt(100, 30);
    play(display, [{ type: 'progress', progress: RUNNING }, turnStarted(1), toolCall(1, 'run_command', `sleep ${'1 '.repeat(40)}`)]);
    for (const [columns, rows] of [
      [60, 20],
      [40, 10],
      [100, 30],
      [20, 8],
    ] as const) {
      await screen.resize(columns, rows);
      const lines = await screen.lines();
      const counts = [/turn \d+\/20/u, /● sleep/u].map((row) => lines.filter((line) => row.test(line)).length);
      expect({ lines, counts }).toEqual({ lines, counts: [1, 1] });
    }
    display.end();
    expect((await screen.lines()).join('\n')).not.toMatch(/turn \d+\/20/u);
  });

  it('the open paragraph is shown while it grows, and its rows are replaced', async () => {
    const { display, screen } = displayAt();
    play(display, [{ type: 'progress', progress: RUNNING }, turnStarted(1), streamed(1, { type: 'text', text: 'Some **bo' })]);
    expect((await screen.lines()).slice(0, 3)).toEqual(['', 'turn 1', 'Some **bo']);
    play(display, [streamed(1, { type: 'text', text: 'ld** words.' })]);
    expect((await screen.lines()).slice(0, 3)).toEqual(['', 'turn 1', 'Some bold words.']);
  });

  it('a list of 300 lines stays in the rows of the terminal while it streams, and is whole at its end', async () => {
    const { display, screen } = displayAt(60, 20);
    const list = Array.from({ length: 300 }, (_, index) => `- item ${index}`).join('\n');
    play(display, [{ type: 'progress', progress: RUNNING }, turnStarted(1), streamed(1, { type: 'text', text: list })]);
    // two rows stay above those that are replaced
    expect(await screen.lines()).toHaveLength(2 + 19);
    play(display, [completed(1, '')]);
    display.end();
    const lines = await screen.lines();
    expect(lines.filter((line) => line.includes('• item'))).toHaveLength(300);
  });

  it('the status line has the time and the tokens, and counts queued messages', async () => {
    const { display, screen } = displayAt(100);
    play(display, [{ type: 'progress', progress: { ...RUNNING, inbox: 2 } }]);
    expect((await screen.lines()).at(-1)).toMatch(/^\S turn 3\/20 · model fake\/model · 1\.2k in, 56 out, \$0\.0123 · \d+ ms · 2 queued$/u);
  });

  it('a running call shows its time and what it reports; ended calls of the turn stay until its end', async () => {
    const { display, screen } = displayAt();
    play(display, [turnStarted(1), toolCall(1, 'build', 'build', 'c1'), toolResult(1, 'ok', 'c1'), toolCall(1, 'test', 'test', 'c2')]);
    display.setCallProgress('12 of 90 passed');
    display.flush();
    expect(await screen.lines()).toEqual([
      '',
      'turn 1',
      '● build  ok, 120 ms',
      expect.stringMatching(/^● test {2}\d+ ms$/u),
      '  12 of 90 passed',
    ]);
  });
});

describe('tool calls', () => {
  it('a call is shown with its arguments, its diff and its outcome', async () => {
    const { display, screen } = displayAt();
    const args = { path: 'src/a.ts', oldText: 'one\ntwo\nthree\n', newText: 'one\n2\nthree\n' };
    play(
      display,
      [turnStarted(1), completed(1, ''), toolCall(1, 'edit_file', 'Editing a.ts'), toolResult(1), event({ type: 'turn.ended', turn: 1 })],
      [said(1, { type: 'tool_call', callId: 'c1', name: 'edit_file', args }), gave(1, 'edited src/a.ts')],
    );
    display.end();
    expect((await screen.lines()).slice(2)).toEqual([
      '● Editing a.ts  src/a.ts',
      '    one',
      '  - two',
      '  + 2',
      '    three',
      '  → ok, 120 ms, 2.0 KiB',
    ]);
  });

  it('an output of 10,000 lines is shown with its first lines and a count', async () => {
    const { display, screen } = displayAt();
    const output = Array.from({ length: 10_000 }, (_, index) => `line ${index}`).join('\n');
    play(
      display,
      [turnStarted(1), completed(1, ''), toolCall(1, 'run_command', 'seq 10000'), toolResult(1), event({ type: 'turn.ended', turn: 1 })],
      [said(1, { type: 'tool_call', callId: 'c1', name: 'run_command', args: { command: 'seq 10000' } }), gave(1, output)],
    );
    display.end();
    const shown = [
      '● seq 10000',
      '  → ok, 120 ms, 2.0 KiB',
      ...[0, 1, 2, 3, 4].map((line) => `    line ${line}`),
      '    … 9,995 more lines',
    ];
    expect((await screen.lines()).slice(2)).toEqual(shown);
  });
});

describe('hostile text', () => {
  it.each([
    ['a token', (text: string) => [streamed(1, { type: 'text', text: `${text}ok` })]],
    [
      'tokens that split a sequence',
      (text: string) => Array.from(`${text}ok`, (character) => streamed(1, { type: 'text', text: character })),
    ],
    ['thinking', (text: string) => [streamed(1, { type: 'thinking', text: `${text}ok` })]],
    ['the title of a call', (text: string) => [toolCall(1, 'x', `${text}ok`), toolResult(1)]],
    ['a notice', (text: string) => [event({ type: 'notice', text: `${text}ok` })]],
    ['the result', (text: string) => [ended(`${text}ok`)]],
  ])('no sequence of %s reaches the terminal', async (_, itemsOf) => {
    const { display, screen } = displayAt();
    const before = screen.written.length;
    play(display, [turnStarted(1), ...itemsOf('\u001b]0;title\u0007\u001b[31m\u009b2J\u001bc\u202e\u0007')]);
    display.end();
    expect(await screen.lines()).toEqual(expect.arrayContaining([expect.stringContaining('ok')]));
    expect(foreignCodes(screen.written.slice(before))).toBe('');
  });
});

describe('colours', () => {
  it.each([
    [{}, true],
    [{ NO_COLOR: '1' }, false],
    [{ NO_COLOR: '' }, true],
    [{ FORCE_COLOR: '0' }, false],
    [{ NO_COLOR: '1', FORCE_COLOR: '1' }, true],
  ])('with %j, colours are written: %s', (env, hasColours) => {
    const { display, screen } = displayAt(60, 20, env);
    play(display, [turnStarted(1), streamed(1, { type: 'text', text: '**bold** text' }), completed(1, '')]);
    display.end();
    expect(screen.written.includes('\u001b[1m')).toBe(hasColours);
  });
});

function resetOf(attempt: number): Extract<WatchItem, { type: 'stream' }>['event'] {
  return { id: '2', runId: 'r', turn: 1, attempt, epoch: 2, seq: 1, type: 'reset' };
}
