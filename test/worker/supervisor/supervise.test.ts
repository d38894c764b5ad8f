import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { processState } from '../../../src/process/process-identity.js';
import { livePresences } from '../../../src/worker/state-folder/presence.js';
import { stateFolder } from '../../../src/worker/state-folder/state-folder.js';
import { killLeftScripts, type Script, startScript } from '../support/script.js';
import { makeStateDir, removeStateDir } from '../support/state-dir.js';

let stateDir = '';
beforeEach(async () => {
  stateDir = await makeStateDir();
});
afterEach(async () => {
  await killLeftScripts();
  await removeStateDir(stateDir);
});

describe('supervise', () => {
  it('A15: starts a process that dies at its start again and again, after pauses that double, and says each', async () => {
    const supervisor = start('killed');
    await supervisor.line('say worker process', 60_000);
    // on a busy machine, the fourth death may be there too
    await vi.waitFor(() => expect(deaths(supervisor).length).toBeGreaterThanOrEqual(3), { timeout: 60_000, interval: 20 });
    const first = deaths(supervisor).slice(0, 3);
    expect(first.map((line) => line.replace(/\d+ died/u, 'PID died'))).toEqual(
      ['0.2', '0.4', '0.8'].map((pause) => `say worker process PID died (killed by SIGKILL); the next one starts in ${pause} s`),
    );
    await supervisor.finish();
    expect(supervisor.lines.at(-1)).toMatch(/^status/u);
  });

  it('ends with the status of a process that exits before it is ready: starting it again would change nothing', async () => {
    const supervisor = start('fails');
    expect(await supervisor.line('status')).toBe('3');
    expect(deaths(supervisor)).toEqual([]);
  });

  it('passes a SIGTERM on and ends with the status of the process', async () => {
    const supervisor = start('exits-7');
    const pid = Number(await supervisor.line('working'));
    supervisor.child.kill('SIGTERM');
    expect(await supervisor.line('status')).toBe('7');
    expect(processState(pid).kind).toBe('gone');
    expect(deaths(supervisor)).toEqual([]);
  });

  it('ends when its process exits cleanly', async () => {
    const supervisor = start('works');
    process.kill(Number(await supervisor.line('working')), 'SIGTERM');
    expect(await supervisor.line('status')).toBe('0');
  });

  it('killed with SIGKILL: its process notices', async () => {
    const supervisor = start('works');
    const pid = Number(await supervisor.line('working'));
    // its output stays open until the process is gone too
    supervisor.child.kill('SIGKILL');
    expect(await supervisor.line('lost')).toBe(String(pid));
  });

  it('starts a spare once the process works, lets it take over, and leaves none behind', async () => {
    const supervisor = start('works', 'spare');
    const first = Number(await supervisor.line('working'));
    await vi.waitFor(async () => expect(await childrenOf(supervisor.pid)).toHaveLength(2), { timeout: 60_000, interval: 20 });
    const spare = (await childrenOf(supervisor.pid)).find((pid) => pid !== first);
    expect(supervisor.lines.filter((line) => line.startsWith('working'))).toHaveLength(1);
    process.kill(first, 'SIGKILL');
    await supervisor.line(`working ${spare}`);
    expect(deaths(supervisor)).toEqual([`say worker process ${first} died (killed by SIGKILL); the spare process takes over`]);
    await vi.waitFor(async () => expect(await childrenOf(supervisor.pid)).toHaveLength(2), { timeout: 60_000, interval: 20 });
    const last = await childrenOf(supervisor.pid);
    await supervisor.finish();
    expect(last.map((pid) => processState(pid).kind)).toEqual(['gone', 'gone']);
    expect(deaths(supervisor)).toHaveLength(1);
  });

  it('is a user of the embedded server while its process is started again', async () => {
    const supervisor = start('works');
    await supervisor.line('working');
    await vi.waitFor(async () => expect(await users()).toEqual([supervisor.pid]), { timeout: 20_000, interval: 20 });
    await supervisor.finish();
    expect(await users()).toEqual([]);
  });
});

function start(...args: readonly string[]): Script {
  return startScript('supervisor', args, { STATE_DIR: stateDir });
}

function deaths({ lines }: Script): string[] {
  return lines.filter((line) => line.startsWith('say '));
}

/** The pids of the users of the embedded server. */
async function users(): Promise<number[]> {
  return (await livePresences(stateFolder(stateDir).users)).map(({ pid }) => pid);
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}
