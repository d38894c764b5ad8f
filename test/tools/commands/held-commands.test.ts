import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { BackgroundCommands } from '../../../src/tools/commands/background-commands.js';
import { CommandRecord } from '../../../src/tools/commands/command-record.js';
import { builtFolder } from '../../support/built-package.js';
import { hasOrSays } from '../../support/has-or-says.js';
import { until } from '../../support/use-workers.js';
import { liveProcesses } from '../support/live-processes.js';
import { canMount, useSmallDisk } from '../support/small-disk.js';
import { type TestCommands, useCommands } from './support/use-commands.js';

const marked = (marker: string): string => `exec -a ${marker} sleep 300`;

describe('the holder of a background command', () => {
  test('that is killed takes the command with it, and the command is told lost; what it made is renamed', async () => {
    const marker = `held-${randomUUID()}`;
    const on = await useCommands('run', { protected: ['perdure.config.ts'] });
    await on.start(`(${marked(marker)}) & echo begun; wait`, 'held');
    const { holder } = await recordOf(on);
    await until(async () => (await liveProcesses(marker)).length > 0, 'the process');
    process.kill(holder.pid, 'SIGKILL');
    await until(async () => (await liveProcesses(marker)).length === 0, 'the end of the processes');
    // what it made in its last moments
    await writeFile(join(on.root, 'perdure.config.ts'), 'evil');
    let told = '';
    // the system may show the killed holder for a moment
    await until(async () => {
      told = await on.output('held');
      return told.includes('): lost: ');
    }, 'the loss');
    expect(told).toMatch(/^cmd-\w+ \(held\): lost: the process that held it was killed; .*only the owner of this project/u);
    expect(await names(on.root)).toEqual([expect.stringMatching(/^\.refused-/u)]);
    expect(await on.stop('held')).toContain('it was not running: lost');
  });

  test('is found by the next worker, which ends its command', async () => {
    const marker = `next-${randomUUID()}`;
    const on = await useCommands('run');
    await on.start(`(${marked(marker)}) & echo begun; wait`, 'held');
    const { stateDir, run } = on;
    const next = new BackgroundCommands({
      stateDir,
      folder: join(stateDir, 'commands'),
      program: join(builtFolder(), 'tools/commands/holder.js'),
    });
    const [found] = await next.list(run);
    expect(found && (await next.stateOf(found))).toEqual({ kind: 'running' });
    expect(await next.endRun(run)).toBe(1);
    await until(async () => (await liveProcesses(marker)).length === 0, 'the end of the processes');
    expect(await on.output('held')).toContain('stopped at the end of the run');
  });

  test('that hangs is killed, and no process is that only its record names', async () => {
    const marker = `hung-${randomUUID()}`;
    const on = await useCommands('run');
    await on.start(`(${marked(marker)}) & echo begun; wait`, 'hung');
    const record = await recordOf(on);
    process.kill(record.holder.pid, 'SIGSTOP');
    // a forged record names a process of this test
    const forged = await useCommands('forged', { stateDir: on.stateDir, workspace: on.root });
    await forged.start('echo begun; sleep 300', 'forged');
    const other = await recordOf(forged);
    const victim = { ...other.holder, pid: process.pid, start: startOf(await readFile('/proc/self/stat', 'latin1')) };
    await writeFile(join(await folderOf(forged), 'record.json'), JSON.stringify({ ...other, holder: victim }));
    process.kill(other.holder.pid, 'SIGSTOP');
    onTestFinished(() => kill(other.holder.pid));
    const [hung, spared] = await Promise.all([on.stop('hung'), forged.stop('forged').catch(String)]);
    expect(hung).toContain('lost: the process that held it was killed');
    expect(spared).toContain('still runs: its holder on another host does not answer');
    await writeFile(join(await folderOf(forged), 'record.json'), JSON.stringify(other));
    await until(async () => (await liveProcesses(marker)).length === 0, 'the end of the processes');
  });

  test.runIf(hasOrSays(canMount, 'tmpfs for this user'))(
    'is killed where a full disk takes no order: what filled it ends too',
    async () => {
      const disk = await useSmallDisk();
      const stateDir = disk.folder;
      const marker = `full-${randomUUID()}`;
      const on = await useCommands('run', { stateDir });
      await on.start(`(${marked(marker)}) & echo begun; wait`, 'full');
      await disk.fill();
      expect(await on.stop('full')).toContain('lost: the process that held it was killed');
      await until(async () => (await liveProcesses(marker)).length === 0, 'the end of the processes');
    },
  );

  test('of an earlier boot, or on another host, is told so', async () => {
    const on = await useCommands('run');
    await on.start('echo begun; exit 0', 'old');
    await until(async () => (await on.output('old')).includes('ended with'), 'the end');
    const folder = await folderOf(on);
    const record = await recordOf(on);
    await rename(join(folder, 'end.json'), join(folder, 'was.json'));
    const far = (holder: object) =>
      writeFile(join(folder, 'record.json'), JSON.stringify({ ...record, holder: { ...record.holder, ...holder } }));
    await far({ boot: '0123456789ab' });
    // its sign of life is fresh: it may be in another container of this host
    expect(await on.output('old')).toContain('running for');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 120_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(await on.output('old')).toContain('lost: the host or its container restarted; it is not running any more');
    await rename(join(folder, 'end.json'), join(folder, 'was.json'));
    await far({ host: 'elsewhere' });
    vi.setSystemTime(Date.now() + 240_000);
    expect(await on.output('old')).toContain('lost: its host elsewhere no longer shows a sign of life');
  });

  test('and its command know no variable of the worker but those of commands', async () => {
    const canary = `canary-${randomUUID()}`;
    vi.stubEnv('OPENAI_API_KEY', canary);
    onTestFinished(() => void vi.unstubAllEnvs());
    const on = await useCommands('run');
    await on.startUntil('\nPATH=', 'env; sleep 300', 'env');
    const { holder } = await recordOf(on);
    const pids = [holder.pid, ...(await childrenOf(holder.pid))];
    expect(pids.length).toBeGreaterThan(2);
    const seen = await Promise.all(pids.flatMap((pid) => ['environ', 'cmdline'].map((file) => readFile(`/proc/${pid}/${file}`, 'latin1'))));
    expect(seen.join('\n')).toContain('PATH=');
    expect(seen.join('\n')).not.toContain(canary);
    expect(await on.output('env', { after: 0 })).not.toContain(canary);
  });
});

describe('the limits of a background command', () => {
  test('a fork bomb stays in its limit, which its end names', async () => {
    const on = await useCommands('run', { sandbox: { limits: { processes: 64 } } });
    await on.startUntil('fork', 'echo begun; bomb() { bomb | bomb & }; bomb; sleep 300', 'bomb');
    expect(await on.stop('bomb')).toMatch(/stopped by stop_command after \d+s; reached its limit of 64 processes/u);
  });

  test('without a sandbox, it is kept together and ended all the same', async () => {
    const marker = `none-${randomUUID()}`;
    const on = await useCommands('run', { sandbox: { mode: 'none' } });
    await on.start(`(${marked(marker)}) & echo begun; wait`, 'none');
    await until(async () => (await liveProcesses(marker)).length > 0, 'the process');
    expect(await on.stop('none')).toContain('stopped by stop_command');
    await until(async () => (await liveProcesses(marker)).length === 0, 'the end of the processes');
  });

  test('each of two commands of a run has its way to the allowed hosts, and the next command too', async () => {
    const server = createServer((_, response) => response.end('answered')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;
    const on = await useCommands('run', { sandbox: { network: { allow: [new URL(url).host] } } });
    const get = `unset NO_PROXY no_proxy; curl -s ${url}; curl -s -o /dev/null -w ' %{http_code}' http://example.com/`;
    await on.startUntil('\nanswered 403', `${get}; echo; sleep 300`, 'one');
    await on.startUntil('\nanswered 403', `${get}; echo; sleep 300`, 'two');
    expect(await on.runCommand(get)).toBe('exit code 0\nanswered 403');
  });
});

describe('protected files while a background command runs', () => {
  const CONFIG = { protected: ['perdure.config.ts'] };

  test('are hidden for its whole life, and the repository is read-only', async () => {
    const on = await useCommands('run', CONFIG);
    await on.runCommand('git init -q . && git config user.name owner');
    await writeFile(join(on.root, 'perdure.config.ts'), 'good');
    const tries =
      'cat perdure.config.ts; (echo evil > perdure.config.ts) 2>&1; (echo evil >> .git/config) 2>&1; (touch .git/hooks/x .git/y) 2>&1';
    const printed = await on.start(`${tries}; echo tried; sleep 300`, 'tries');
    await until(async () => (await on.output('tries', { after: 0 })).includes('tried'), 'the attempts');
    expect(await on.output('tries', { after: 0 })).not.toContain('good');
    expect(printed).not.toContain('good');
    expect(await readFile(join(on.root, 'perdure.config.ts'), 'utf8')).toBe('good');
    expect(await readFile(join(on.root, '.git/config'), 'utf8')).not.toContain('evil');
    expect(await readdir(join(on.root, '.git'))).not.toContain('y');
  });

  test('that it makes are renamed while it runs, and a command that makes them again and again is killed', async () => {
    const on = await useCommands('run', CONFIG);
    await on.start('echo evil > perdure.config.ts; echo made; sleep 300', 'once');
    await until(async () => (await names(on.root)).some((name) => name.startsWith('.refused-')), 'the refusal');
    expect(await names(on.root)).not.toContain('perdure.config.ts');
    expect(await on.output('once')).toContain('running for');
    await on.start('echo begun; while :; do echo evil > perdure.config.ts; sleep 0.05; done', 'again');
    await until(async () => !(await on.output('again')).includes('running for'), 'the end');
    expect(await on.output('again')).toContain('killed, because it made protected files again and again');
  });

  test('that another command made are no files of the owner for the next one', async () => {
    const on = await useCommands('run', CONFIG);
    await on.start('echo begun; until [ -e stop ]; do echo evil > perdure.config.ts; sleep 1; done; sleep 300', 'first');
    // it begins while the file of the first one may be there
    await on.runCommand('until [ -e perdure.config.ts ]; do sleep 0.01; done');
    await on.start('until [ -e go ]; do sleep 0.05; done; echo evil > perdure.config.ts; echo made; sleep 300', 'second');
    await on.stop('first');
    await writeFile(join(on.root, 'go'), '');
    await until(async () => (await on.output('second', { after: 0 })).includes('made'), 'the file');
    await until(async () => !(await names(on.root)).includes('perdure.config.ts'), 'the refusal');
    expect(await on.output('second')).toContain('running for');
  });

  test('that their owner replaces end the command, whose cover would be gone', async () => {
    const on = await useCommands('run', CONFIG);
    await writeFile(join(on.root, 'perdure.config.ts'), 'good');
    await on.start("trap '' TERM; echo begun; while :; do sleep 0.05; done", 'covered');
    await writeFile(join(on.root, 'perdure.config.ts'), 'edited in place');
    expect(await on.output('covered', { waitMs: 1_000 })).toContain('running for');
    // as editors do
    await writeFile(join(on.root, 'new'), 'better');
    await rename(join(on.root, 'new'), join(on.root, 'perdure.config.ts'));
    await until(async () => !(await on.output('covered')).includes('running for'), 'the end');
    expect(await on.output('covered')).toContain('killed, because the owner of this project replaced a protected file meanwhile');
    expect(await readFile(join(on.root, 'perdure.config.ts'), 'utf8')).toBe('better');
  });
});

async function folderOf({ commands, run }: TestCommands): Promise<string> {
  const command = (await commands.list(run)).at(-1);
  if (!command) throw new Error('no command');
  return command.folder;
}

async function recordOf(on: TestCommands): Promise<CommandRecord> {
  return CommandRecord.parse(JSON.parse(await readFile(join(await folderOf(on), 'record.json'), 'utf8')));
}

async function names(folder: string): Promise<string[]> {
  return (await readdir(folder)).toSorted();
}

/** All processes below one. */
async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const own = text.split(' ').filter(Boolean).map(Number);
  return [...own, ...(await Promise.all(own.map(childrenOf))).flat()];
}

function startOf(stat: string): string {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // gone
  }
}
