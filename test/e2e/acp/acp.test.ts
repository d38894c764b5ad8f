import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startEditor } from '../../cli/support/acp-editor.js';
import { useMcpFolders } from '../../cli/support/mcp-client.js';
import { until } from '../../support/use-workers.js';

const folder = useMcpFolders();

describe('perdure acp', { timeout: 180_000 }, () => {
  it('C-38: an editor opens a folder, prompts, sees the change of a file, and allows a call; the next prompt continues', async () => {
    const here = await folder({
      steps: [
        { text: 'I write it down.', toolCalls: [{ name: 'write_file', args: { path: 'note.txt', content: 'milk\n' } }] },
        { toolCalls: [{ name: 'deploy', args: { to: 'production' } }] },
        { text: 'all done' },
        { text: 'you said: {{lastUser}}' },
      ],
    });
    const { editor, end, stderr } = await startEditor(here);
    const session = await editor.open(here.path);
    expect(await editor.prompt(session, 'note milk, then deploy')).toBe('end_turn');
    const path = join(here.path, 'note.txt');
    expect(editor.call('write_file')).toMatchObject({
      kind: 'edit',
      status: 'completed',
      locations: [{ path }],
      content: [{ type: 'diff', path, newText: 'milk\n' }],
    });
    expect(editor.asked).toMatchObject([{ toolCall: { title: 'deploy', rawInput: { to: 'production' } } }]);
    expect(await readFile(path, 'utf8')).toBe('milk\n');
    expect(await readFile(join(here.path, 'deployed'), 'utf8')).toBe('production');
    expect(await editor.prompt(session, 'well?')).toBe('end_turn');
    expect(editor.messages).toEqual(['agent_message: I write it down.', 'agent_message: all done', 'agent_message: you said: well?']);
    expect(stderr(), 'what a tool prints').toContain('a line on stdout');
    expect(await end()).toBe(0);
    const { code, stdout, stderr: told } = await here.run(['session', session, '--json']);
    expect({ code, stdout: code === 0 ? '' : stdout, told }).toMatchObject({ code: 0 });
    const state = JSON.parse(stdout) as { runs: object[] };
    expect(state.runs).toMatchObject([{ reason: 'completed' }, { reason: 'completed' }]);
  });

  it('A-34: killed in mid-answer, its run continues, and the next process has the whole conversation once', async () => {
    const words = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ');
    const here = await folder({ steps: [{ text: 'hello' }, { text: words, chunkDelayMs: 100 }] });
    const first = await startEditor(here);
    const session = await first.editor.open(here.path);
    await first.editor.prompt(session, 'hi');
    first.editor.prompt(session, 'count').catch(() => undefined);
    await until(() => first.editor.messages.at(-1)?.includes('word5') === true, 'the beginning of the answer', 60_000);
    await first.kill();
    expect(first.editor.messages.at(-1)).not.toContain('word59');

    const { editor, end } = await startEditor(here);
    await editor.load(session, here.path);
    await editor.sees(`agent_message: ${words}`);
    const whole = ['user_message: hi', 'agent_message: hello', 'user_message: count', `agent_message: ${words}`];
    expect(editor.messages).toEqual(whole);
    expect(await end()).toBe(0);
    const last = await startEditor(here);
    await last.editor.load(session, here.path);
    await last.editor.sees(`agent_message: ${words}`);
    expect(last.editor.messages).toEqual(whole);
    expect(await last.end()).toBe(0);
  });

  it('its input ends: what was asked is answered, nothing else is on stdout, and the exit status is 0', async () => {
    const here = await folder({ steps: [{ text: 'hello' }] });
    const { command, args, cwd, env } = here.program(['acp', '--max-turns', '3']);
    const child = spawn(command, args, { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] });
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    const hello = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: 1 } };
    const open = { jsonrpc: '2.0', id: 2, method: 'session/new', params: { cwd: here.path, mcpServers: [] } };
    child.stdin.end([hello, open].map((line) => `${JSON.stringify(line)}\nno json\n`).join(''));
    await once(child, 'close');
    expect(child.exitCode).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    const answers = lines.map((line) => JSON.parse(line) as { id: number | null });
    expect(answers.map(({ id }) => id ?? 0).toSorted((a, b) => a - b)).toEqual([0, 0, 1, 2]);
  });

  it('what cannot run is an error that the editor shows: of the request, or one line before the first', async () => {
    const here = await folder({ steps: [{ text: 'hello' }] });
    const { editor, end } = await startEditor(here, ['--model', 'scripted/none.json']);
    expect(await editor.fails(editor.open(here.path))).toMatch(/^[A-Z_]+: .*none\.json/u);
    expect(await editor.fails(editor.open('/'))).toMatch(/^WORKSPACE: "\/" is the root folder/u);
    expect(await end()).toBe(0);
    await writeFile(join(here.path, 'perdure.config.ts'), 'export default {');
    expect(await here.run(['acp'])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/^CONFIG: [^\n]*\n$/u) });
  });
});
