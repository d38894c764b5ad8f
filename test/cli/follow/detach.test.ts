import { EventEmitter } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { followedItems } from '../../../src/cli/follow/followed-items.js';
import { Interrupts } from '../../../src/cli/host/interrupts.js';
import type { Pressed } from '../../../src/cli/terminal/keyboard.js';
import { Draft } from '../../../src/cli/terminal/line-editor.js';
import { LiveDisplay } from '../../../src/cli/terminal/live-display.js';
import { latch } from '../../support/use-workers.js';
import { useCliFolders } from '../support/cli.js';
import { ended } from '../terminal/support/items.js';
import { TestScreen } from '../terminal/support/screen.js';
import { openControls } from './support/open-controls.js';

const newFolder = useCliFolders();

/** Controls whose requests are noted, and wait for `answer`. */
function controls(): { press: (...keys: Pressed[]) => void; sent: string[]; answer: () => void } {
  const sent: string[] = [];
  const held = latch();
  const note = (verb: string) => (): Promise<void> => {
    sent.push(verb);
    return held.opened;
  };
  // all that the keys of these tests send
  const run = { hold: note('hold'), release: note('release') };
  const made = openControls(run, { send: note('steer'), detach: () => void sent.push('detach') });
  return { press: (...keys) => keys.forEach((key) => made.press(key)), sent, answer: () => held.open() };
}

const CTRL_C: Pressed = { kind: 'interrupt' };
const LINE: Pressed[] = [{ kind: 'insert', text: 'x' }, { kind: 'enter' }];

describe('a detach', () => {
  it('Ctrl-C twice at once counts as two, and nothing new starts after it', async () => {
    const { press, sent, answer } = controls();
    press(CTRL_C, CTRL_C, ...LINE);
    answer();
    await expect.poll(() => sent).toEqual(['hold', 'release', 'detach']);
    press(...LINE);
    expect(sent).toHaveLength(3);
  });

  it('a third Ctrl-C waits for no request', () => {
    const { press, sent } = controls();
    press(CTRL_C, CTRL_C, CTRL_C);
    expect(sent).toEqual(['hold', 'detach']);
  });

  it('a run that appears after it gets no keys', async () => {
    const screen = new TestScreen();
    const display = new LiveDisplay({ stderr: screen }, { NO_COLOR: '1' });
    onTestFinished(() => display.end());
    const listen = vi.fn<() => () => void>(() => () => undefined);
    const run = {
      async *watch() {
        yield ended('');
      },
      async *transcript() {
        // no messages
      },
    };
    // all that is asked of a run
    const items = followedItems(run as never, {
      display,
      signal: AbortSignal.abort(),
      keys: { draft: new Draft(), listen, detach: () => undefined },
    });
    for await (const item of items) expect(item.type).toBe('result');
    expect(listen).not.toHaveBeenCalled();
  });

  it.each([
    [true, 'hang-up'],
    [false, undefined],
  ] as const)('SIGHUP of a closed terminal is one; without a terminal it is left as it was: %s', (hasTerminal, kind) => {
    const signals = new EventEmitter();
    const interrupts = new Interrupts();
    interrupts.listen({ hasTerminal, signals });
    signals.emit('SIGHUP');
    expect([interrupts.kind, interrupts.signal.aborted]).toEqual([kind, hasTerminal]);
  });

  it('a closed stderr ends a command quietly, with its own exit status', async () => {
    const folder = await newFolder();
    const command = folder.start(['show', 'nobody']);
    command.child.stderr?.destroy();
    expect((await command.ended).code).toBe(3);
  });
});
