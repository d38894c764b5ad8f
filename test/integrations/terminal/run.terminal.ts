import { describe, expect, test } from 'vitest';
import { useAgentFolder } from './support/agent-folder.js';
import { useTerminals } from './support/tmux.js';

const LARGE = { columns: 100, rows: 30 };
const SMALL = { columns: 60, rows: 20 };
const STATUS = /turn \d+\/\d+ · /gu;

const agent = useAgentFolder();
const open = useTerminals();

/** An answer with calls. */
function calls(text: string, ...toolCalls: readonly { name: string; args?: object }[]): object {
  return { text, toolCalls };
}

describe.each([LARGE, SMALL])('perdure run in a terminal of $columns columns', (size) => {
  test('the text of each turn stands under it, with the calls and the diff below, and the status line is gone at the end', async () => {
    const steps = [
      calls('I look at **notes**.', { name: 'list_files' }),
      calls('I read 你好 🎉 them.', { name: 'read_file', args: { path: 'notes.txt' } }),
      { text: '# Done\n\n- one\n- two' },
    ];
    const terminal = await open(await agent.run(steps, '--workspace', agent.folder.path, '--i-know'), size);
    expect(await terminal.ended()).toBe(0);
    const all = await terminal.all();
    const places = [
      'turn 1',
      'I look at notes.',
      '● Listing files',
      'turn 2',
      'I read 你好 🎉 them.',
      '● Reading notes.txt',
      'turn 3',
      'Done',
      '• one',
      '• two',
      'completed after 3 turns',
    ];
    const found = places.map((text) => all.indexOf(text));
    expect({ all, found }).toEqual({ all, found: found.toSorted((a, b) => a - b) });
    expect({ all, missing: places.filter((_, index) => found[index] === -1) }).toEqual({ all, missing: [] });
    expect({ all, status: all.match(STATUS) }).toEqual({ all, status: null });
    expect(all.match(/Done/gu)).toHaveLength(1);
  });

  test('an output of 10,000 lines shows its first lines and a count', async () => {
    const terminal = await open(await agent.run([calls('Much.', { name: 'many_lines' }), { text: 'Read.' }]), size);
    expect(await terminal.ended()).toBe(0);
    const all = await terminal.all();
    expect(all).toMatch(/line \d+\n.*line \d+\n/u);
    expect(all).toMatch(/… [\d,]+ more lines/u);
    expect(all.split('\n').length).toBeLessThan(40);
  });
});

describe('perdure run in a terminal', () => {
  test('a resize from 100×30 to 60×20 and back leaves no stale line, while a call runs and while text streams', async () => {
    const words = Array.from({ length: 150 }, (_, index) => `word${index}`).join(' ');
    const terminal = await open(await agent.run([{ text: words, chunkDelayMs: 60 }, { text: 'x' }]), LARGE);
    await terminal.saw(/word10 /u);
    for (const size of [SMALL, LARGE, SMALL]) {
      await terminal.resize(size);
      await terminal.saw(new RegExp(`turn 1/`, 'u'));
      await expect.poll(async () => (await terminal.screen()).match(STATUS)).toHaveLength(1);
    }
    expect(await terminal.ended()).toBe(0);
    const all = await terminal.all();
    expect({ all, status: all.match(STATUS) }).toEqual({ all, status: null });
    expect(all.replaceAll(/\s+/gu, ' ')).toContain(words);
    expect(all.match(/word75\b/gu)).toHaveLength(1);
  });

  test('C10: y approves a call and n denies one, where they are asked for', async () => {
    const steps = [calls('First.', { name: 'deploy' }), calls('Second.', { name: 'deploy' }), { text: 'It says: {{lastToolResult}}' }];
    const terminal = await open(await agent.run(steps), SMALL);
    await terminal.saw(/approval needed {2}● deploy[^]*y approve · n deny/u);
    await terminal.type('y');
    await terminal.saw(/deploy approved by[^]*turn 2[^]*y approve · n deny/u);
    await terminal.type('n');
    expect(await terminal.ended()).toBe(0);
    const all = await terminal.all();
    expect(all).toMatch(/deployed[^]*deploy denied by[^]*It says: denied/u);
    expect(all).not.toContain('y approve ·');
  });

  test('a question is answered with the number of a choice', async () => {
    const args = { question: 'Where to?', choices: ['staging', 'production'] };
    const terminal = await open(await agent.run([calls('I ask.', { name: 'ask_user', args }), { text: 'To {{lastToolResult}}.' }]), SMALL);
    await terminal.saw(/Where to\?[^]*2\. production[^]*type a number/u);
    await terminal.type('2');
    await terminal.press('Enter');
    expect(await terminal.ended()).toBe(0);
    expect(await terminal.all()).toContain('To production.');
  });

  test('a message is typed while a call runs; the first Ctrl-C holds the run, the second detaches, and the run is kept', async () => {
    const terminal = await open(await agent.run([calls('Long.', { name: 'wait_long' }), { text: 'Done.' }]), LARGE);
    await terminal.saw(/● wait long[^]*step 3 of 10/u);
    await terminal.type('Use tabs, 你好.');
    await terminal.saw(/> Use tabs, 你好\./u);
    await terminal.press('Enter');
    await terminal.saw(/message [\w-]+ accepted[^]*1 queued/u);
    await terminal.press('C-c');
    await terminal.saw(/held by [^]*Ctrl-C detaches/u);
    await terminal.press('C-c');
    expect(await terminal.ended()).toBe(0);
    const all = await terminal.all();
    expect(all).toMatch(/detached; run run-\d+ is kept/u);
    const id = /run (?<id>run-\d+)/u.exec(all)?.groups?.['id'] ?? '';
    const shown = await agent.folder.run(['show', id, '--json']);
    expect(JSON.parse(shown.stdout)).toMatchObject({ progress: { inbox: 1, phase: 'tools' } });
    expect((await agent.folder.run(['cancel', id])).code).toBe(0);
  });

  test('Ctrl-Z gives the terminal to the shell without a row of the display, and fg brings the display back', async () => {
    const { command, args, ...place } = await agent.run([calls('Long.', { name: 'wait_long' }), { text: 'Done.' }]);
    const shell = { ...place, command: 'bash', args: ['--norc', '--noprofile', '-i'] };
    const terminal = await open({ ...shell, env: { ...place.env, PS1: '$ ' } }, SMALL);
    await terminal.type(`clear; ${[command, ...args].map((each) => `'${each}'`).join(' ')}`);
    await terminal.press('Enter');
    await terminal.saw(/● wait long[^]*step 3 of 10/u);
    await terminal.press('C-z');
    const stopped = await terminal.saw(/Stopped[^]*\$$/u);
    expect(stopped).not.toMatch(/● wait long|turn 1\/|message to the agent/u);
    await terminal.type('fg');
    await terminal.press('Enter');
    const back = await terminal.saw(/\$ fg\n[^]*● wait long[^]*turn 1\/[^]*> message to the agent/u);
    expect(back.match(STATUS)).toHaveLength(1);
    await terminal.press('C-c', 'C-c');
    await terminal.saw(/detached; run run-\d+ is kept[^]*\$$/u);
    const id = /run (?<id>run-\d+) is kept/u.exec(await terminal.all())?.groups?.['id'] ?? '';
    expect((await agent.folder.run(['cancel', id])).code).toBe(0);
  });

  test.each([
    [{}, true],
    [{ NO_COLOR: '1' }, false],
    [{ NO_COLOR: '1', FORCE_COLOR: '1' }, true],
  ])('with %j, the screen has colours: %s', async (env, hasColours) => {
    const program = await agent.run([{ text: '**Bold** words.' }]);
    const terminal = await open({ ...program, env: { ...program.env, ...env } }, SMALL);
    expect(await terminal.ended()).toBe(0);
    const screen = await terminal.coloured();
    // the lines about the run are dimmed
    expect({ screen, hasColours: screen.includes('\u001b[2m') }).toEqual({ screen, hasColours });
  });
});

describe('perdure chat in a terminal', () => {
  test('each answer is shown once, an approval is decided in between, and Ctrl-D ends the conversation', async () => {
    const steps = [{ text: 'First **answer**.' }, calls('I deploy.', { name: 'deploy' }), { text: 'It says: {{lastToolResult}}.' }];
    const terminal = await open(await agent.chat(steps), SMALL);
    await terminal.saw(/> message to the agent; Ctrl-D ends/u);
    await terminal.type('Hello.');
    await terminal.press('Enter');
    await terminal.saw(/> Hello\.[^]*First answer\.[^]*Ctrl-D ends/u);
    await terminal.type('Deploy it.');
    await terminal.press('Enter');
    await terminal.saw(/y approve · n deny/u);
    await terminal.type('y');
    await terminal.saw(/It says: deployed\.[^]*Ctrl-D ends/u);
    await terminal.press('C-d');
    expect(await terminal.ended()).toBe(0);
    const all = await terminal.all();
    for (const text of ['First answer.', 'I deploy.', 'It says: deployed.'])
      expect({ all, count: all.split(text).length - 1 }).toEqual({ all, count: 1 });
  });

  test('a line that is sent during an answer is a message of the session, and half a line is kept for the prompt', async () => {
    const words = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ');
    const terminal = await open(await agent.chat([{ text: words, chunkDelayMs: 60 }, { text: 'Second answer.' }]), SMALL);
    await terminal.saw(/Ctrl-D ends/u);
    await terminal.type('Hello.');
    await terminal.press('Enter');
    await terminal.saw(/word3 /u);
    await terminal.type('And this?');
    await terminal.press('Enter');
    await terminal.type('half a l');
    await terminal.saw(/word20 [^]*> half a l/u);
    await terminal.saw(/Second answer\.[^]*> half a l$/u);
    await terminal.type('ine');
    await terminal.saw(/> half a line$/u);
    await terminal.press('C-c');
    await terminal.saw(/Ctrl-D ends$/u);
    await terminal.press('C-c');
    expect(await terminal.ended()).toBe(0);
    const all = await terminal.all();
    expect({ all, count: all.split('Second answer.').length - 1 }).toEqual({ all, count: 1 });
    const key = /session (?<key>run-\d+)/u.exec(all)?.groups?.['key'] ?? '';
    const { runs } = JSON.parse((await agent.folder.run(['session', key, '--json'])).stdout);
    expect(runs.flatMap(({ messageIds }: { messageIds: string[] }) => messageIds)).toHaveLength(2);
  });
});
