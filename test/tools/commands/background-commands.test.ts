import { randomUUID } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { BACKGROUND_LIMITS } from '../../../src/contracts/constants/limits.js';
import { until } from '../../support/use-workers.js';
import { liveProcesses } from '../support/live-processes.js';
import { textOf } from '../support/temp-workspace.js';
import { useCommands } from './support/use-commands.js';

/** A server that answers with a text. */
const serve = (text: string): string =>
  `node -e 'require("http").createServer((_, r) => r.end("${text}")).listen(3000, "127.0.0.1", () => console.log("up"))'`;

/** A process that others can find: its name is on its command line. */
const marked = (marker: string): string => `exec -a ${marker} sleep 300`;

describe('background commands of a run', () => {
  test('a command goes on after its call; its output is read in pages, and its end is told', async () => {
    const { start, output, root } = await useCommands('run');
    stopClock();
    const starting = start('echo one; pwd; until [ -e go ]; do sleep 0.05; done; echo two; exit 3', 'work');
    // the time for the first output runs once it is there, however long a busy machine takes for it
    await until(async () => (await output('work', { after: 0 }).catch(String)).includes('\none'), 'the first output');
    vi.useRealTimers();
    const started = await starting;
    expect(started).toMatch(/^cmd-[0-9a-f]{12} \(work\): running for \d+s; bytes 0 to \d+ of \d+; next: after \d+\none/u);
    const first = await output('work', { after: 0, waitMs: 20_000 });
    expect(first).toContain(`\none\n${root}`);
    const [, next = ''] = /next: after (\d+)/u.exec(first) ?? [];
    expect(await output('work', { after: Number(next) })).toMatch(/^cmd-\w+ \(work\): running for \d+s; no new output; after: \d+$/u);

    const { runCommand } = await useCommands('other', { workspace: root });
    const waiting = output('work', { after: Number(next), waitMs: 60_000 });
    await runCommand('touch go');
    expect(await waiting).toMatch(/\ntwo$/u);
    const end = await endOf(output, 'work');
    expect(end).toMatch(/^cmd-\w+ \(work\): ended with exit code 3 after \d+s; bytes 0 to \d+ of \d+; /u);
    expect(end).toMatch(/\ntwo$/u);
  });

  test('a command that fails is told with its exit code and what it printed, by its start or later', async () => {
    const { start, output } = await useCommands('run');
    stopClock();
    const printed = await start('echo why >&2; exit 7', 'fails').catch(String);
    vi.useRealTimers();
    expect(printed).toContain('\nwhy');
    expect(await endOf(output, 'fails')).toMatch(/^cmd-\w+ \(fails\): ended with exit code 7 after \d+s; .*\nwhy$/u);
  });

  test('stop_command ends all processes of a command, also of one that ignores SIGTERM, and tells what it found', async () => {
    const { start, stop } = await useCommands('run');
    const [gentle, stubborn] = [`gentle-${randomUUID()}`, `stubborn-${randomUUID()}`];
    await start(`(${marked(gentle)}) & echo begun; wait`, 'gentle');
    await start(`trap '' TERM; (trap '' TERM; ${marked(stubborn)}) & echo begun; while :; do sleep 0.2; done`, 'stubborn');
    await until(async () => (await liveProcesses(stubborn)).length > 0, 'the process');
    expect(await stop('gentle')).toMatch(/^cmd-\w+ \(gentle\): stopped by stop_command after \d+s$/u);
    expect(await stop('stubborn')).toMatch(/^cmd-\w+ \(stubborn\): stopped by stop_command after \d+s$/u);
    await until(async () => (await Promise.all([gentle, stubborn].map(liveProcesses))).flat().length === 0, 'the end of the processes');
    expect(await stop('gentle')).toMatch(/^cmd-\w+ \(gentle\): it was not running: stopped by stop_command/u);
  });

  test('a killed process is told with its signal, and a signal ends a wait', async () => {
    const { start, output } = await useCommands('run');
    await start('echo begun; until [ -e never ]; do kill -SEGV $$; sleep 0.05; done', 'crash').catch(String);
    expect(await endOf(output, 'crash')).toContain('ended with exit code 139 (SIGSEGV)');
    await start('echo begun; sleep 300', 'still');
    const stopping = new AbortController();
    const waiting = output('still', { waitMs: 60_000, signal: stopping.signal });
    stopping.abort();
    expect(await waiting).toContain('running for');
  });

  test('a server that one command starts is reached by the next ones, and by no command of another run', async () => {
    const { startUntil, runCommand, root, stateDir } = await useCommands('run');
    const get = `node -e 'fetch("http://127.0.0.1:3000").then((r) => r.text()).then(console.log, (e) => console.log(e.cause.code))'`;
    await startUntil('\nup', serve('served'), 'web');
    expect(await runCommand(get)).toBe('exit code 0\nserved');
    expect(await startUntil('\nserved', `${get}; sleep 300`, 'reader')).toMatch(/\nserved$/u);

    const other = await useCommands('other', { workspace: root, stateDir });
    await other.startUntil('\nbegun', 'echo begun; sleep 300', 'idle');
    expect(await other.runCommand(get)).toBe('exit code 0\nECONNREFUSED');
    await expect(other.output('web')).rejects.toThrow(/^NOT_FOUND: no background command "web"; there are: cmd-\w+ \(idle\) running/u);
    await expect(other.stop('web')).rejects.toThrow(/^NOT_FOUND/u);
  });

  test('the network outlives the command that brought it, and a new server takes a port again', async () => {
    const { start, startUntil, stop, runCommand } = await useCommands('run');
    const get = `node -e 'fetch("http://127.0.0.1:3000").then((r) => r.text()).then(console.log, (e) => console.log(e.cause.code))'`;
    await startUntil('\nup', serve('first'), 'first');
    await start('echo begun; sleep 300', 'second');
    await stop('first');
    await startUntil('\nup', serve('third'), 'third');
    expect(await runCommand(get)).toBe('exit code 0\nthird');
  });

  test('a command with endless output is stopped at its limit; a bounded part of it is kept, and gaps are told', async () => {
    const { start, output, stateDir } = await useCommands('run');
    await start('yes 0123456789', 'yes');
    const end = await endOf(output, 'yes', 100_000);
    expect(end).toContain('stopped at the limit of 256.0 MiB of output');
    const { headBytes, segmentBytes, segmentsMax } = BACKGROUND_LIMITS;
    expect(await bytesIn(join(stateDir, 'commands'))).toBeLessThanOrEqual(headBytes + segmentsMax * segmentBytes + 16_384);
    expect(await output('yes', { after: 0 })).toMatch(/; bytes 0 to \d+ of \d{9}; next: after \d+\n0123456789\n/u);
    const behind = await output('yes', { after: headBytes });
    expect(behind).toMatch(/\n\[25\d\.\d MiB of the output were dropped here\]\n/u);
  });

  test('a run has at most 8 live commands', async () => {
    const { start, startUntil, stop } = await useCommands('run');
    for (let index = 1; index <= BACKGROUND_LIMITS.liveOfRunMax; index += 1) await start('echo begun; sleep 300', `n${index}`);
    await expect(start('echo begun; sleep 300')).rejects.toThrow(/^TOO_MANY_COMMANDS: this run has 8 running commands; stop one/u);
    await stop('n3');
    await startUntil('\nagain', 'echo again; sleep 300', 'n9');
  });

  test('the same call starts its command once, and finds it again', async () => {
    const { tools, context, root } = await useCommands('run');
    const parameters = { command: 'echo x >> starts; echo begun; sleep 300' };
    expect(await tools.start.reconcile?.(parameters, context('run/first/1/7'))).toEqual({ kind: 'not_started' });
    const both = await Promise.all([1, 2].map(async () => await textOf(tools.start.execute(parameters, context('run/first/1/7')))));
    const found = await tools.start.reconcile?.(parameters, context('run/first/1/7'));
    const again = await textOf(found?.kind === 'done' ? found.result : '');
    const ids = [...both, again].map((text) => text.split(':')[0]);
    expect(new Set(ids).size).toBe(1);
    expect((await stat(join(root, 'starts'))).size).toBe('x\n'.length);
  });
});

/** Stops the clock of this process, so that no time runs out before the test says so. */
function stopClock(): void {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** What is told of a command that has ended. */
async function endOf(output: (id: string) => Promise<string>, id: string, timeoutMs?: number): Promise<string> {
  let text = '';
  await until(
    async () => {
      text = await output(id);
      return !/: running for \d+s/u.test(text);
    },
    `the end of ${id}`,
    timeoutMs,
  );
  return text;
}

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
