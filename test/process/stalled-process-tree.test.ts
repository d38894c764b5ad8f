import { execFileSync } from 'node:child_process';
import { expect, test, vi } from 'vitest';
import { processGroupSandbox } from '../../src/process/command-sandbox.js';
import { treeSandbox } from '../../src/process/sandbox/open-sandbox.js';
import { tempWorkspace } from '../tools/support/temp-workspace.js';
import { runTree } from './support/run-tree.js';

// After a stall of the worker, Node runs the timers that are over before it reads what came meanwhile.

const sandbox = treeSandbox(await processGroupSandbox());

test('a command that ended by itself during a stall of the worker past its time is not told as timed out', async () => {
  const { signal } = new AbortController();
  let pid = 0;
  // called when the time runs
  vi.spyOn(signal, 'addEventListener').mockImplementation(() => {
    stall(1_000);
    while (isRunning(pid)) stall(50);
  });
  const end = await runTree(sandbox, 'echo done; exit 3', {
    signal,
    timeoutMs: 500,
    onStarted: (started) => {
      pid = started;
    },
  });
  expect(end).toEqual({ endedBy: 'itself', exitCode: 3, output: 'done\n' });
});

test('the output that a command left before a stall of the worker is read', async () => {
  const { signal } = new AbortController();
  // called when the exit is known: the stall comes before the rest of the output is read
  vi.spyOn(signal, 'removeEventListener').mockImplementation(() => void setImmediate(stall, 1_000));
  const bytes = 100_000;
  const output = (await tempWorkspace()).context().output.collect({ keep: 'tail' });
  let received = 0;
  // the first piece is never stored, so that the others are in the pipe when the command ends
  vi.spyOn(output, 'write').mockImplementation((piece) => {
    received += piece.length;
    return new Promise(() => undefined);
  });
  await runTree(sandbox, `head -c ${bytes} /dev/zero`, { signal, output });
  expect(received).toBe(bytes);
});

/** Keeps this process from reading anything, as a machine does that is busy or was suspended. */
function stall(timeMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, timeMs);
}

/** False for a process that has ended, even if nobody has asked for its exit code yet. */
function isRunning(pid: number): boolean {
  return !execFileSync('ps', ['-o', 'stat=', '-p', `${pid}`], { encoding: 'utf8' }).startsWith('Z');
}
