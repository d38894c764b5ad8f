import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { commandEnvironment } from '../../../src/activities/tools/command-environment.js';
import { commandSandbox } from '../../../src/activities/tools/command-sandbox.js';
import { runCommand } from '../../../src/activities/tools/run-command.js';
import type { JsonValue } from '../../../src/contracts/message.js';
import { tempWorkspace, textOf } from './temp-workspace.js';

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
    const running = runCommand.execute({ command: 'echo begun; sleep 60', timeoutMs: 1_000 }, workspace.context());
    await expect(running).rejects.toThrow('timed out after 1s; the command and all it started were killed\nbegun');
  });

  test('a cancel ends it within five seconds, with the output so far', async () => {
    const workspace = await tempWorkspace();
    const controller = new AbortController();
    const heartbeat = (): void => controller.abort();
    const running = runCommand.execute(
      { command: "trap '' TERM; echo begun; while :; do sleep 1; done" },
      workspace.context({ signal: controller.signal, heartbeat }),
    );
    await expect(running).rejects.toThrow('stopped before its end; the command and all it started were killed\nbegun');
  }, 8_000);

  test('a watcher sees the last line and the size of the output', async () => {
    const workspace = await tempWorkspace();
    const seen: JsonValue[] = [];
    await runCommand.execute(
      { command: "printf '10%%\\r50%%\\r'" },
      workspace.context({ heartbeat: (details) => void seen.push(details) }),
    );
    expect(seen).toEqual([{ outputBytes: 8, lastLine: '50%' }]);
  });

  test('cd and variables of one command do not reach the next', async () => {
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
  ])('%s is refused before anything starts', (_, args) => {
    expect(runCommand.parameters.safeParse(args).success).toBe(false);
  });

  test('the longest command allowed can be started, also when each character takes three bytes', async () => {
    const workspace = await tempWorkspace();
    const command = `: ${'€'.repeat(29_998)}`;
    expect(runCommand.parameters.safeParse({ command }).success).toBe(true);
    expect(await runCommand.execute({ command }, workspace.context())).toBe('exit code 0; no output');
  });

  test('the longest timeout a model may ask for lies within the bound of the activity', () => {
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

  test('the state folder is hidden where the sandbox can cover it, and commandSandbox says which', async () => {
    const workspace = await tempWorkspace();
    await workspace.put('.perdure/server.json', 'state');
    const { kind } = await commandSandbox();
    const seen = await textOf(runCommand.execute({ command: 'cat .perdure/server.json || true' }, workspace.context()));
    expect(seen.includes('exit code 0\nstate')).toBe(kind === 'process-group');
  });

  test('a call without a workspace runs nothing', async () => {
    const { workspace: _, ...context } = (await tempWorkspace()).context();
    await expect(runCommand.execute({ command: 'true' }, context)).rejects.toThrow(/^NO_WORKSPACE: /u);
  });
});
