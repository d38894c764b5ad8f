import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { JsonValue } from '../../src/contracts/schemas/message.js';
import { commandEnvironment } from '../../src/process/command-sandbox.js';
import { createRunCommand } from '../../src/tools/run-command.js';
import { holdTimers } from './support/hold-timers.js';
import { tempWorkspace, textOf } from './support/temp-workspace.js';

const runCommand = createRunCommand({ sandbox: {}, protected: [] });

const MEASURE = fileURLToPath(new URL('fixtures/measure-command.mjs', import.meta.url));
const MIB = 1_024 * 1_024;

describe('run_command', () => {
  test('a command runs in the workspace, and its result begins with the exit code', async () => {
    const workspace = await tempWorkspace();
    expect(await runCommand.execute({ command: 'pwd' }, workspace.context())).toBe(`exit code 0\n${workspace.root}`);
    expect(await runCommand.execute({ command: 'true' }, workspace.context())).toBe('exit code 0; no output');
  });

  test.each([
    ['exit 3', 'exit code 3; no output'],
    ['echo why >&2; false', 'exit code 1\nwhy'],
    ['no-such-program', /^exit code 127\n.*not found/u],
    ['sudo -n true', /^exit code 1/u],
  ])('%s fails with what it printed', async (command, message) => {
    const workspace = await tempWorkspace();
    await expect(runCommand.execute({ command }, workspace.context())).rejects.toThrow(message);
  });

  test('a timeout is a failed result with the time and the output so far', async () => {
    const workspace = await tempWorkspace();
    const timeoutMs = 45_000;
    // the time passes once the command has begun, however long a busy machine takes to start it
    const pass = holdTimers();
    const context = workspace.context({ heartbeat: () => pass(timeoutMs) });
    const running = runCommand.execute({ command: 'echo begun; sleep 60', timeoutMs }, context);
    await expect(running).rejects.toThrow('timed out after 45s; the command and all its processes were killed\nbegun');
  });

  test('a cancel ends it within five seconds, with the output so far', async () => {
    const workspace = await tempWorkspace();
    const controller = new AbortController();
    const heartbeat = (): void => controller.abort();
    const running = runCommand.execute(
      { command: "trap '' TERM; echo begun; while :; do sleep 1; done" },
      workspace.context({ signal: controller.signal, heartbeat }),
    );
    await expect(running).rejects.toThrow('stopped before it finished; the command and all its processes were killed\nbegun');
  }, 8_000);

  test('L1: 100 MB of output cost a worker at most 32 MiB of memory, and are kept whole', async () => {
    const { root, outside } = await tempWorkspace();
    const command = 'yes 0123456789 | head -c 104857600';
    const args = [MEASURE, root, outside, command];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 50_000 });
    const { grownBytes, result }: { grownBytes: number; result: string } = JSON.parse(stdout);
    expect(result).toMatch(/\n\[output cut: 100\.0 MiB in 9532510 lines; shown: the last .*; full output: read_artifact \{"ref":"sha256:/u);
    expect(grownBytes).toBeLessThanOrEqual(32 * MIB);
  });

  test('a long output is shown by its end, after the exit code, and kept whole from its first byte', async () => {
    const workspace = await tempWorkspace();
    const text = await textOf(runCommand.execute({ command: 'seq 1 100000' }, workspace.context()));
    expect(text).toMatch(/^exit code 0\n\[…\]\n\d+\n/u);
    expect(text).toMatch(/\n100000\n\[output cut: 575\.1 KiB in 100000 lines; shown: the last 199\d lines .*\}\]$/u);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(50 * 1_024);
    const [, ref = ''] = /"ref":"(sha256:[0-9a-f]{64})"/u.exec(text) ?? [];
    const { bytes, size } = await workspace.artifacts.read(ref, { offset: 0, bytes: 6 });
    expect([bytes.toString(), size]).toEqual(['1\n2\n3\n', 588_895]);
  });

  test('A-22: exact bounds hold for the status and the output together', async () => {
    const workspace = await tempWorkspace();
    const bounds = {
      bytesMax: 51_200,
      linesMax: 2_000,
      charsMax: 51_200,
      keep: 'auto',
      exact: { above: 1_200, head: 700, tail: 260 },
    } as const;
    const text = await textOf(runCommand.execute({ command: "head -c 3000 /dev/zero | tr '\\0' a" }, workspace.context({ bounds })));
    const [status, head, marker, tail] = text.split('\n');
    expect([status, head, tail]).toEqual(['exit code 0', 'a'.repeat(700 - 12), 'a'.repeat(260)]);
    expect(marker).toContain(`${3_000 - 688 - 260} characters dropped`);
  });

  test('the output of a failed command is in its error, within the bounds', async () => {
    const workspace = await tempWorkspace();
    const failed = runCommand.execute({ command: 'seq 1 100000; echo "Error: it broke"; exit 2' }, workspace.context());
    await expect(failed).rejects.toThrow(/^exit code 2\n1\n2\n[^]*\n\[…\]\n[^]*\n100000\nError: it broke\n\[output cut: .*read_artifact/u);
  });

  test('a watcher sees the last line and the size of the output', async () => {
    const workspace = await tempWorkspace();
    const seen: JsonValue[] = [];
    await runCommand.execute(
      { command: "printf '10%%\\r50%%\\r'" },
      workspace.context({ heartbeat: (details) => void seen.push(details) }),
    );
    expect(seen).toEqual([{ outputBytes: 8, lastLine: '50%' }]);
  });

  test('B45: cd and variables of one command do not reach the next', async () => {
    const workspace = await tempWorkspace();
    await runCommand.execute({ command: 'cd / && export LEFT=over' }, workspace.context());
    expect(await runCommand.execute({ command: 'pwd; echo "[$LEFT]"' }, workspace.context())).toBe(`exit code 0\n${workspace.root}\n[]`);
  });

  test.each([
    ['an empty command', { command: ' \n' }],
    ['a NUL', { command: 'echo a\0b' }],
    ['a command of 1 MB', { command: `echo ${'x'.repeat(1_000_000)}` }],
    ['timeout -1', { command: 'true', timeoutMs: -1 }],
    ['timeout 0', { command: 'true', timeoutMs: 0 }],
    ['timeout 1e9', { command: 'true', timeoutMs: 1e9 }],
    ['timeout "5"', { command: 'true', timeoutMs: '5' }],
    ['an unknown field', { command: 'true', cwd: '/' }],
  ])('B45, B46: %s is refused before anything starts', (_, args) => {
    expect(runCommand.parameters.safeParse(args).success).toBe(false);
  });

  test('the longest command allowed can be started, also when each character takes three bytes', async () => {
    const workspace = await tempWorkspace();
    const command = `: ${'€'.repeat(29_998)}`;
    expect(runCommand.parameters.safeParse({ command }).success).toBe(true);
    expect(await runCommand.execute({ command }, workspace.context())).toBe('exit code 0; no output');
  });

  test('B46: the longest timeout a model may ask for lies within the bound of the activity', () => {
    expect(runCommand.parameters.safeParse({ command: 'true', timeoutMs: 600_000 }).success).toBe(true);
    expect(runCommand.timeoutMs).toBe(605_000);
  });

  test('keys of the worker are not in the environment of a command', async () => {
    const workspace = await tempWorkspace();
    for (const name of ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'AWS_SECRET_ACCESS_KEY', 'NODE_OPTIONS'])
      vi.stubEnv(name, 'canary-in-environment');
    vi.stubEnv('LC_ALL', 'C');
    onTestFinished(() => void vi.unstubAllEnvs());
    const text = await textOf(runCommand.execute({ command: 'env; cat /proc/self/environ' }, workspace.context()));
    expect(text).toContain('LC_ALL=C');
    expect(text).not.toContain('canary');
    expect(commandEnvironment({ SECRET: 'x', TZ: 'UTC' })).toEqual({ PATH: expect.stringContaining('/usr/bin'), TZ: 'UTC' });
  });

  test('a call without a workspace runs nothing', async () => {
    const { workspace: _, ...context } = (await tempWorkspace()).context();
    await expect(runCommand.execute({ command: 'true' }, context)).rejects.toThrow(/^NO_WORKSPACE: /u);
  });
});
