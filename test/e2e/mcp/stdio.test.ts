import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CliFolder } from '../../cli/support/cli.js';
import { McpClient, useMcpFolders } from '../../cli/support/mcp-client.js';

const folder = useMcpFolders();
const SAY = { steps: [{ text: 'hello' }] };

describe('perdure mcp over stdio', { timeout: 120_000 }, () => {
  it('starts a run, waits for an approval, approves it under the name of the client, and returns the result', async () => {
    const here = await folder();
    const client = await McpClient.stdio(here);
    expect(await client.tools()).toEqual(
      expect.arrayContaining(['agents_list', 'run_start', 'run_wait', 'run_status', 'run_result', 'run_steer', 'run_cancel', 'runs_list']),
    );
    expect(await client.call('agents_list')).toEqual({ agents: [{ name: 'default', description: expect.any(String) }] });
    const start = { task: 'deploy it', id: 'r1' };
    expect(await client.call('run_start', start)).toMatchObject({ runId: 'r1', duplicate: false, uiUrl: expect.stringContaining('r1') });
    expect(await client.call('run_start', start)).toMatchObject({ runId: 'r1', duplicate: true });
    expect(await client.fails('run_start', { ...start, task: 'another' })).toMatch(/^RUN_EXISTS: run r1 already exists/u);

    const waited = await client.call('run_wait', { runId: 'r1', timeoutMs: 50_000 });
    expect(waited).toMatchObject({ runId: 'r1', done: false, progress: { pendingApprovals: 1 } });
    expect(await client.fails('run_result', { runId: 'r1' })).toBe('RUN_OPEN: run r1 is open; wait for its end with run_wait');

    const { approvals } = await client.call('run_status', { runId: 'r1' });
    expect(approvals).toMatchObject([{ tool: 'deploy', args: { to: 'production' } }]);
    const [{ callId }] = approvals as [{ callId: string }];
    expect(await client.fails('run_approve', { runId: 'r1', callId: 'other' })).toMatch(/^NO_SUCH_APPROVAL: /u);
    expect(await client.call('run_steer', { runId: 'r1', text: 'and be quick' })).toEqual({ id: expect.any(String) });
    expect(await client.call('run_approve', { runId: 'r1', callId })).toMatchObject({ decision: 'approved', by: 'mcp:tester' });
    expect(await client.call('run_wait', { runId: 'r1' })).toMatchObject({
      done: true,
      result: { reason: 'completed', output: 'all done' },
    });
    expect(await client.call('run_result', { runId: 'r1' })).toMatchObject({ reason: 'completed', toolCalls: 1 });
    expect(await client.call('run_status', { runId: 'r1' })).toMatchObject({ run: { open: false, status: 'completed' }, approvals: [] });
    await expect.poll(async () => (await client.call('runs_list', { status: 'closed' })).runs).toMatchObject([{ runId: 'r1' }]);
    expect(await readFile(join(here.path, 'deployed'), 'utf8')).toBe('production');
    await client.close();
  });

  it('reports the progress of a run that is waited for, with numbers that grow', async () => {
    const client = await McpClient.stdio(await folder({ steps: [{ text: 'late', delayMs: 120_000 }] }));
    await client.call('run_start', { task: 'go', id: 'r1' });
    const lines: string[] = [];
    const numbers: number[] = [];
    // a client drops the progress that comes together with the answer, so the wait is longer than a look at the run takes
    await client.call('run_wait', { runId: 'r1', timeoutMs: 10_000 }, ({ message = '', progress }) => {
      lines.push(message);
      numbers.push(progress);
    });
    expect(lines[0]).toMatch(/^turn [01] of 20, /u);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
    await client.call('run_cancel', { runId: 'r1' });
    await client.close();
  });

  it('a client that may not decide sees what waits, and can cancel it', async () => {
    const client = await McpClient.stdio(await folder(), '--no-approvals');
    expect(await client.tools()).not.toEqual(expect.arrayContaining(['run_approve']));
    await client.call('run_start', { task: 'deploy it', id: 'r1' });
    await expect
      .poll(() => client.call('run_wait', { runId: 'r1', timeoutMs: 500 }), { timeout: 30_000 })
      .toMatchObject({ done: false, progress: { pendingApprovals: 1 } });
    expect(await client.call('run_status', { runId: 'r1' })).toMatchObject({ approvals: [{ tool: 'deploy' }] });
    expect(await client.fails('run_approve', { runId: 'r1', callId: 'x' })).toMatch(/^UNKNOWN_TOOL: no tool "run_approve"/u);
    expect(await client.call('run_cancel', { runId: 'r1', reason: 'enough' })).toEqual({ runId: 'r1' });
    expect(await client.call('run_wait', { runId: 'r1' })).toMatchObject({ done: true, result: { reason: 'cancelled' } });
    expect(await client.call('run_cancel', { runId: 'r1' })).toEqual({ runId: 'r1', alreadyClosed: 'cancelled' });
    await client.close();
  });

  it('loses nothing when it is killed with its client: the run goes on, and the next server finds its result', async () => {
    const here = await folder({ steps: [{ text: 'hello', delayMs: 3_000 }] });
    const first = await McpClient.stdio(here);
    await first.call('run_start', { task: 'go', id: 'r1' });
    process.kill(first.pid, 'SIGKILL');
    await first.close();
    const second = await McpClient.stdio(here);
    expect(await second.call('run_start', { task: 'go', id: 'r1' })).toMatchObject({ duplicate: true });
    expect(await second.call('run_wait', { runId: 'r1' })).toMatchObject({ done: true, result: { output: 'hello' } });
    await second.close();
  });

  it('bad input is one line with a code, and starts nothing', async () => {
    const here = await folder(SAY);
    await mkdir(join(here.path, 'inside'));
    await symlink(tmpdir(), join(here.path, 'link'));
    const client = await McpClient.stdio(here);
    expect(await client.fails('run_wiat', {})).toMatch(/^UNKNOWN_TOOL: no tool "run_wiat" \(did you mean run_wait\?\); available: /u);
    expect(await client.fails('run_start', { taks: 'x' })).toBe('UNKNOWN_OPTION: taks (did you mean task?)');
    expect(await client.fails('run_start', {})).toBe('BAD_OPTION: task: is missing');
    expect(await client.fails('run_start', { task: ' ' })).toBe('EMPTY_MESSAGE: message has no text and no attachment');
    expect(await client.fails('run_start', { task: 'x', id: '../x' })).toMatch(/^BAD_RUN_ID: /u);
    expect(await client.fails('run_start', { task: 'x', agent: 'defualt' })).toMatch(/^UNKNOWN_AGENT: .*did you mean default\?/u);
    expect(await client.fails('run_start', { task: 'x', maxTurns: 0 })).toMatch(/^BAD_OPTION: maxTurns: integer 1–/u);
    expect(await client.fails('run_wait', { runId: 'r', timeoutMs: -1 })).toMatch(/^BAD_OPTION: timeoutMs: .*got -1$/u);
    expect(await client.fails('run_wait', { runId: 7 })).toMatch(/^BAD_OPTION: runId: .*got 7$/u);
    for (const tool of ['run_wait', 'run_status', 'run_result', 'run_cancel'])
      expect(await client.fails(tool, { runId: 'none' })).toMatch(/^RUN_NOT_FOUND: no run "none"/u);
    for (const workspace of ['..', '/', '/etc', 'link', 'inside/../..'])
      expect(await client.fails('run_start', { task: 'x', workspace })).toMatch(/^WORKSPACE: .* is outside of /u);
    expect(await client.fails('run_start', { task: 'x', workspace: 'nowhere' })).toMatch(/^WORKSPACE: .* does not exist/u);
    expect(await client.call('runs_list')).toEqual({ runs: [] });
    expect(await client.call('run_start', { task: 'x', workspace: 'inside', id: 'r1' })).toMatchObject({ runId: 'r1' });
    await client.close();
  });

  it('answers what was asked before its input ended, ignores lines that are no requests, and exits 0', async () => {
    const here = await folder(SAY);
    const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'printf', version: '1' } };
    const { code, stdout } = await piped(
      here,
      [
        request(1, 'initialize', hello),
        'no json\n',
        request(2, 'tools/call', { name: 'run_start', arguments: { task: 'x', id: 'r1' } }),
        request(3, 'tools/call', { name: 'run_wait', arguments: { runId: 'r0', timeoutMs: 60_000 } }),
      ].join(''),
    );
    const answers = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: number; result: { structuredContent?: object } });
    expect(answers.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
    expect(answers.find(({ id }) => id === 2)?.result.structuredContent).toMatchObject({ runId: 'r1' });
    expect(code).toBe(0);
  });
});

function request(id: number, method: string, params: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
}

/** What the command prints for an input, and its exit status. */
async function piped(here: CliFolder, input: string): Promise<{ code: number | null; stdout: string }> {
  const { command, args, cwd, env } = here.program(['mcp']);
  const child = spawn(command, args, { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] });
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stdin.end(input);
  await once(child, 'close');
  return { code: child.exitCode, stdout };
}
