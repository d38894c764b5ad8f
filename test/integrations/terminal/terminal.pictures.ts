import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { useAgentFolder } from './support/agent-folder.js';
import { terminalPicture } from './support/terminal-picture.js';
import { type TmuxTerminal, useTerminals } from './support/tmux.js';

const PICTURES = fileURLToPath(new URL('../../../docs/pictures/', import.meta.url));
const SIZE = { columns: 90, rows: 22 };

const agent = useAgentFolder();
const open = useTerminals();

const EDIT = { path: 'notes.txt', oldText: 'one\ntwo\nthree\n', newText: 'one\n2\nthree\n' };

/** Draws the screen from the first line of the run on, without lines that name processes and ports of this machine. */
async function keep(terminal: TmuxTerminal, name: string, title: string): Promise<void> {
  const rows = (await terminal.coloured()).split('\n').filter((row) => !/ process \d/u.test(row));
  const shown = rows.slice(rows.findIndex((row) => row.includes('agent default')));
  await mkdir(PICTURES, { recursive: true });
  await writeFile(`${PICTURES}${name}.svg`, terminalPicture(shown.join('\n'), { ...SIZE, rows: shown.length }, title));
}

test('terminal-approval.svg: a run with a pending approval', async () => {
  const plan = 'The change is **ready**:\n\n1. `notes.txt` has the new line\n2. all tests pass\n\nI deploy it now.';
  const terminal = await open(await agent.run([{ text: plan, toolCalls: [{ name: 'deploy' }] }, { text: 'Done.' }]), SIZE);
  await terminal.saw(/y approve/u);
  await keep(terminal, 'terminal-approval', 'A run in the terminal that waits for an approval');
  await terminal.type('y');
  expect(await terminal.ended()).toBe(0);
});

test('terminal-diff.svg: a run with a diff and a message that is typed', async () => {
  const steps = [
    { text: 'I change the **second** line.', toolCalls: [{ name: 'edit_file', args: EDIT }] },
    { text: 'Now I run the long check.', toolCalls: [{ name: 'wait_long' }] },
    { text: 'Done.' },
  ];
  const terminal = await open(await agent.run(steps, '--workspace', agent.folder.path, '--i-know'), SIZE);
  await terminal.saw(/● wait long/u);
  await terminal.type('Update the changelog too.');
  await terminal.saw(/> Update the changelog too\./u);
  // the amounts of the first turn are there
  await terminal.saw(/[1-9][\d.]*k? in, /u);
  await keep(terminal, 'terminal-diff', 'A run in the terminal with a diff and a typed message');
  await terminal.press('C-c', 'C-c', 'C-c');
  expect(await terminal.ended()).toBe(0);
});
