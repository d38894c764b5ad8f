import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ArtifactStore } from '../../src/artifacts/artifact-store.js';
import { CallOutput } from '../../src/artifacts/call-output.js';
import { completeBounds } from '../../src/output/truncate-output.js';
import { commandSandbox, processGroupSandbox } from '../../src/process/command-sandbox.js';
import type { ProcessTreeOptions } from '../../src/process/process-tree.js';
import { working } from '../../src/process/sandbox/choose-sandbox.js';
import { treeSandbox } from '../../src/process/sandbox/open-sandbox.js';
import type { CommandView, Sandbox } from '../../src/process/sandbox/sandbox.js';
import { liveProcesses } from '../tools/support/live-processes.js';
import { tempWorkspace } from '../tools/support/temp-workspace.js';
import { type EndedTree, runTree } from './support/run-tree.js';

const PARENT = fileURLToPath(new URL('fixtures/run-one-command.mjs', import.meta.url));

/** Each form that this machine allows by name; the first one works everywhere. */
const SANDBOXES = new Map<string, Sandbox>([['process group', treeSandbox(await processGroupSandbox())]]);
const tree = await commandSandbox();
if (tree.kind === 'namespace') SANDBOXES.set('process namespace', treeSandbox(tree));
for await (const sandbox of working()) SANDBOXES.set(sandbox.kind, sandbox);

/** A duration nobody else sleeps for: the mark by which a process is found again. */
const uniqueSeconds = (): string => `${randomInt(100_000, 999_999)}.${randomInt(100_000, 999_999)}`;

describe.each([...SANDBOXES.keys()])('runProcessTree in a sandbox: %s', (name) => {
  const run = (command: string, options: Partial<ProcessTreeOptions> = {}) => runIn(name, command, options);

  test('the exit code and both outputs in their order come back', async () => {
    expect(await run('echo one; echo two >&2; echo three; exit 3')).toEqual({
      endedBy: 'itself',
      exitCode: 3,
      output: 'one\ntwo\nthree\n',
    });
    expect(await run('kill -SEGV $$')).toMatchObject({ endedBy: 'itself', exitCode: 139 });
  });

  test('B45: there is no input and no terminal to wait at', async () => {
    expect(await run('cat; read -r answer; echo "[$answer]"; : </dev/tty || echo no terminal')).toMatchObject({
      output: expect.stringMatching(/^\[\]\n.*no terminal\n$/su),
    });
  });

  test('B45: background children are dead when the result is there', async () => {
    const seconds = uniqueSeconds();
    const command = `sleep ${seconds} & (trap '' TERM HUP; sleep ${seconds} & wait) & until pgrep -f 'sleep ${seconds}$' | sed -n 2p | grep -q .; do :; done; exit 0`;
    expect(await run(command)).toMatchObject({ exitCode: 0 });
    expect(await liveProcesses(seconds)).toEqual([]);
  });

  test('at the timeout the command may end in order, with its last output', async () => {
    const end = await run("trap 'echo tidied up; exit 0' TERM; echo started; sleep 60 & wait", { timeoutMs: 4_000 });
    expect(end).toEqual({ endedBy: 'timeout', exitCode: 0, output: 'started\ntidied up\n' });
  });

  test('a tree that ignores TERM is killed after the grace', async () => {
    const seconds = uniqueSeconds();
    // TERM while the sandbox is still being built ends the building, with an exit code of its own
    const end = await run(`trap '' TERM; sleep ${seconds} & sleep ${seconds}`, { timeoutMs: 4_000 });
    expect(end).toMatchObject({ endedBy: 'timeout', exitCode: 137 });
    expect(await liveProcesses(seconds)).toEqual([]);
  });

  test('an abort ends the tree, and the result tells', async () => {
    const seconds = uniqueSeconds();
    const controller = new AbortController();
    const ending = run(`sleep ${seconds} & sleep ${seconds}`, { signal: controller.signal });
    await vi.waitFor(async () => expect((await liveProcesses(seconds)).length).toBeGreaterThan(2), { timeout: 10_000 });
    controller.abort();
    expect(await ending).toMatchObject({ endedBy: 'abort' });
    expect(await liveProcesses(seconds)).toEqual([]);
  });

  test('a call aborted before its start starts nothing', async () => {
    await expect(run('touch started', { signal: AbortSignal.abort() })).rejects.toThrow('aborted');
  });

  test('B45: endless output is stopped, in bounded memory', async () => {
    const end = await run('yes 0123456789');
    expect(end.endedBy).toBe('output');
    expect(end.output).toMatch(
      /^0123456789\n[^]*\[output cut: (?:19|2\d)\.\d MiB in \d+ lines; shown: the first 9\d\d lines .* and the last 9\d\d lines .*read_artifact/u,
    );
    expect(Buffer.byteLength(end.output)).toBeLessThanOrEqual(50 * 1_024);
  });

  test('of an output that comes faster than it is stored nothing is lost, not even the end', async () => {
    const workspace = await tempWorkspace();
    const { artifacts } = workspace;
    const slow: ArtifactStore = {
      read: (ref, window) => artifacts.read(ref, window),
      put: () => {
        const writer = artifacts.put();
        return {
          write: (piece) => delay(400).then(() => writer.write(piece)),
          finish: () => writer.finish(),
          discard: () => writer.discard(),
        };
      },
    };
    const { signal } = workspace.context();
    const output = new CallOutput(completeBounds(), { store: slow, signal, onProblem: () => undefined }).collect();
    await run('seq 1 57000; echo the end', { output });
    const text = await output.finish();
    expect(text).toContain('\n57000\nthe end\n[output cut: 323.1 KiB in 57001 lines;');
    expect(text).toContain('read_artifact');
  });

  test('B45: kill $PPID does not reach the worker', async () => {
    expect(await run('kill $PPID; echo alive')).toMatchObject({ output: expect.stringContaining('alive') });
  });

  test('when the worker is killed with SIGKILL, nothing of the tree is left', async () => {
    const seconds = uniqueSeconds();
    const { root } = await tempWorkspace();
    const command = `trap '' TERM HUP; sleep ${seconds} & (sleep ${seconds} &); sleep ${seconds}`;
    const parent = spawn(process.execPath, [PARENT, name, root, command], { stdio: 'inherit' });
    onTestFinished(() => void parent.kill('SIGKILL'));
    // the worker itself, its shells, and three sleeps
    await vi.waitFor(async () => expect((await liveProcesses(`sleep\0${seconds}`)).length).toBe(3), { timeout: 20_000 });
    const exited = once(parent, 'exit');
    parent.kill('SIGKILL');
    await exited;
    await vi.waitFor(async () => expect(await liveProcesses(seconds)).toEqual([]), { timeout: 5_000 });
  });
});

const closed = [...SANDBOXES.keys()].filter((name) => name !== 'process group');
if (!closed.includes('unshare')) console.warn('no namespaces on this machine: their claims are not shown');

describe.each(closed)('runProcessTree in namespaces: %s', (name) => {
  test('a daemon with a session of its own does not outlive its command', async () => {
    const seconds = uniqueSeconds();
    expect(
      await runIn(name, `setsid nohup sleep ${seconds} >/dev/null 2>&1 & until pgrep -f 'sleep ${seconds}$' >/dev/null; do :; done`),
    ).toMatchObject({ exitCode: 0 });
    expect(await liveProcesses(seconds)).toEqual([]);
  });

  test('B45: kill -9 -1 hits only the namespace, and no other process is to be seen', async () => {
    const { output } = await runIn(name, 'kill -9 -1; echo alive; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline');
    expect(output).toContain('alive');
    expect(output).not.toContain('vitest');
  });

  test('hidden folders are empty, read-only and stay so', async () => {
    const workspace = await tempWorkspace();
    const { root } = workspace;
    await workspace.put('state/server.json', 'hidden text');
    const { output } = await runIn(
      name,
      `cd ${root}; umount state; unshare -rm umount state; ls -A state; touch state/x; cat state/server.json`,
      { folder: root },
      { hidden: [{ path: `${root}/state`, isFolder: true }] },
    );
    expect(output).not.toContain('hidden text');
    expect(output).toContain('Read-only file system');
    expect(output).toContain('No such file');
  });
});

/** Runs a command in the sandbox of this name. */
async function runIn(
  name: string,
  command: string,
  options?: Partial<ProcessTreeOptions>,
  view?: Partial<CommandView>,
): Promise<EndedTree> {
  const sandbox = SANDBOXES.get(name);
  if (!sandbox) throw new Error(`no sandbox ${name}`);
  return await runTree(sandbox, command, options, view);
}
