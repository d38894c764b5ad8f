import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Voice } from '../../../src/cli/display/output.js';
import { PlainDisplay } from '../../../src/cli/display/plain-display.js';
import { ConversationKeys } from '../../../src/cli/follow/conversation-keys.js';
import type { RunControls } from '../../../src/cli/follow/run-controls.js';
import { SentLines } from '../../../src/cli/follow/sent-lines.js';
import { keysOf } from '../../../src/cli/host/context.js';
import { Interrupts } from '../../../src/cli/host/interrupts.js';
import { answerOf, type SessionAnswer } from '../../../src/cli/host/session-answer.js';
import { type LinePrompt, readTypedLine } from '../../../src/cli/terminal/line-prompt.js';
import type { Prompt } from '../../../src/cli/terminal/live-display.js';
import { PerdureError } from '../../../src/contracts/perdure-error.js';
import type { SendInput, SessionState } from '../../../src/contracts/schemas/session.js';
import { collectedOutput } from '../support/collected-output.js';
import { ended } from '../terminal/support/items.js';
import { TestScreen } from '../terminal/support/screen.js';
import { NO_DISPLAY, openControls } from './support/open-controls.js';

/** A terminal with the keys of a conversation. */
function terminal(): {
  keys: ConversationKeys;
  type: (text: string) => void;
  prompt: LinePrompt;
  interrupts: Interrupts;
  modes: boolean[];
} {
  const modes: boolean[] = [];
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (raw: boolean) => void modes.push(raw) });
  const screen = new TestScreen();
  const voice: Voice = { say: (line) => screen.write(`${line}\n`) };
  const interrupts = new Interrupts();
  const given = keysOf({ input, interrupts, output: { stdout: screen, stderr: screen } });
  if (!given) throw new Error('a terminal has keys');
  const keys = new ConversationKeys(given);
  onTestFinished(() => keys.close());
  return {
    keys,
    interrupts,
    modes,
    prompt: { keys, entered: keys.entered, voice, screen, signal: interrupts.signal },
    type: (text) => void input.write(text),
  };
}

function controlsOf({ draft }: ConversationKeys): RunControls {
  // no key of these tests reaches the run
  return openControls({}, { draft });
}

describe('a line that is typed in a conversation', () => {
  it('C-01: half of it typed while a run answers is still there at the prompt, and what is typed in between', async () => {
    const { keys, type, prompt, modes } = terminal();
    const controls = controlsOf(keys);
    const stop = keys.listen({ onPressed: (pressed) => controls.press(pressed) });
    type('half');
    await expect.poll(() => keys.draft.typed.text).toBe('half');
    stop();
    controls.close();
    type(' a');
    await expect.poll(() => keys.draft.typed.text).toBe('half a');
    const line = readTypedLine(prompt);
    type(' line\r');
    expect(await line).toEqual({ text: 'half a line' });
    expect(keys.draft.typed.text).toBe('');
    // the terminal echoed nothing in between
    expect(modes).toEqual([true]);
  });

  it('C-01: one that is entered while nothing asks for it is the next message', async () => {
    const { keys, type, prompt } = terminal();
    type('first\rsecond\rthi');
    await expect.poll(() => keys.draft.typed.text).toBe('thi');
    expect([await readTypedLine(prompt), await readTypedLine(prompt)]).toEqual([{ text: 'first' }, { text: 'second' }]);
    const third = readTypedLine(prompt);
    type('rd\r');
    expect(await third).toEqual({ text: 'third' });
  });

  it('Ctrl-C in between clears the line, then detaches: no prompt is shown then', async () => {
    const { keys, type, prompt, interrupts, modes } = terminal();
    type('x\u0003');
    await expect.poll(() => keys.draft.typed.text).toBe('');
    expect(interrupts.kind).toBeUndefined();
    type('\u0003');
    await expect.poll(() => interrupts.kind).toBe('ctrl-c');
    expect([await readTypedLine(prompt), modes]).toEqual(['end-of-input', [true, false]]);
  });
});

function ignore(): void {
  // the handler alone changes what the signal does
}

/** What the screen shows when Ctrl-Z stops the process: it continues too soon for a look from outside. */
function linesAtStop(screen: TestScreen): Promise<string[]> {
  const kill = process.kill.bind(process);
  return new Promise((resolve) => {
    const spy = vi.spyOn(process, 'kill').mockImplementation((pid, signal) => {
      if (signal === 'SIGTSTP') resolve(screen.lines());
      return kill(pid, signal);
    });
    onTestFinished(() => spy.mockRestore());
  });
}

it('a notice stands above the line that is typed, and Ctrl-Z leaves no row to the shell', async () => {
  const { keys, type, prompt } = terminal();
  const line = readTypedLine(prompt);
  type('half');
  await expect.poll(() => keys.draft.typed.text).toBe('half');
  prompt.voice.say('worker\nstarted');
  // a test screen, as in `terminal`
  const screen = prompt.screen as TestScreen;
  expect(await screen.lines()).toEqual(['worker started', '> half']);
  // nothing stops this process: it continues by itself
  process.on('SIGTSTP', ignore);
  onTestFinished(() => void process.off('SIGTSTP', ignore));
  const atStop = linesAtStop(screen);
  type('\u001a');
  expect(await atStop).toEqual(['worker started']);
  await expect.poll(() => screen.lines()).toEqual(['worker started', '> half']);
  type('\r');
  expect(await line).toEqual({ text: 'half' });
});

describe('Ctrl-C as the run ends', () => {
  it('reports nothing, and holds nothing', async () => {
    const said: string[] = [];
    const hints: (string | undefined)[] = [];
    const display = {
      ...NO_DISPLAY,
      setPrompt: (prompt: Prompt | undefined) => void hints.push(prompt?.hint),
      say: (line: string) => void said.push(line),
    };
    const run = { hold: () => Promise.reject(new PerdureError('RUN_CLOSED', 'closed', 4)) };
    const controls = openControls(run, { display });
    controls.press({ kind: 'interrupt' });
    await expect.poll(() => hints.at(-1)).toContain('Ctrl-C interrupts');
    expect([hints.some((hint) => hint?.includes('Ctrl-C detaches')), said]).toEqual([true, []]);
  });
});

const RECEIPT = { accepted: true, position: 0, duplicate: false };

/** A session whose first run ends as the second message arrives, and which returns it to its queue. */
class EndingSession {
  readonly key = 'k';
  readonly sent: SendInput[] = [];
  refusal: PerdureError | undefined;
  accepts = true;
  #looks = 0;

  send = (message: string | SendInput): Promise<typeof RECEIPT & { id: string }> => {
    const input = typeof message === 'string' ? { text: message } : message;
    this.sent.push(input);
    return this.refusal ? Promise.reject(this.refusal) : Promise.resolve({ ...RECEIPT, id: input.id ?? '', accepted: this.accepts });
  };

  query = (): Promise<SessionState> => {
    this.#looks += 1;
    const own = this.sent.map(({ id = '' }) => id);
    const first = { runId: 'k/1', messageIds: ['m1'], ...(this.#looks > 1 ? { reason: 'completed' } : {}) };
    const next = { runId: 'k/2', messageIds: own, ...(this.#looks > 4 ? { reason: 'completed' } : {}) };
    return Promise.resolve({ key: 'k', queued: [], dropped: [], runs: this.#looks > 2 ? [first, next] : [first] });
  };
}

describe('a line that is sent while a run of a session answers', () => {
  it('C-04: it goes to the session as a steer, and is answered by the next run if this one ends at that moment', async () => {
    const session = new EndingSession();
    const lines = new SentLines(session);
    const { output } = collectedOutput();
    const shown: string[] = [];
    const client = {
      get: (runId: string) => ({
        runId,
        // the line is entered as the last item of the run arrives
        async *watch() {
          shown.push(runId);
          if (runId === 'k/1') void lines.send('And this?', { interrupt: false });
          yield ended(runId);
        },
        result: () => Promise.resolve({ output: runId }),
      }),
    };
    const seen = new Set<string>();
    const find = (id: string): Promise<SessionAnswer> =>
      answerOf(
        // all that the function asks of a client and a session
        { client: client as never, session: session as never, id, shown: seen },
        { display: new PlainDisplay(output), signal: new AbortController().signal, keys: undefined },
      );
    expect(await find('m1')).toMatchObject({ runId: 'k/1' });
    const id = await lines.next();
    expect(session.sent).toEqual([{ id, text: 'And this?', queue: 'steer' }]);
    expect(await find(id ?? '')).toMatchObject({ runId: 'k/2', result: { output: 'k/2' } });
    expect([await lines.next(), shown]).toEqual([undefined, ['k/1', 'k/2']]);
  });

  it('C-06: a line for a held run interrupts it', async () => {
    const session = new EndingSession();
    await new SentLines(session).send('Stop.', { interrupt: true });
    expect(session.sent).toMatchObject([{ text: 'Stop.', queue: 'interrupt' }]);
  });

  it('C-12: a line without a receipt is not followed, and the same text sent again is the same message', async () => {
    const session = new EndingSession();
    const lines = new SentLines(session);
    session.refusal = new PerdureError('NO_WORKER', 'no receipt', 5);
    await expect(lines.send('again', { interrupt: false })).rejects.toThrow('no receipt');
    expect(await lines.next()).toBeUndefined();
    session.refusal = undefined;
    await lines.send('again', { interrupt: false });
    await lines.send('again', { interrupt: false });
    const [first, second, third] = session.sent.map(({ id }) => id);
    expect([first === second, second === third]).toEqual([true, false]);
    session.accepts = false;
    await expect(lines.send('more', { interrupt: false })).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    expect([await lines.next(), await lines.next(), await lines.next()]).toEqual([second, third, undefined]);
  });
});
