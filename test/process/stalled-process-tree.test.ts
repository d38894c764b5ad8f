import { expect, test, vi } from 'vitest';
import { processGroupSandbox } from '../../src/process/command-sandbox.js';
import { type ProcessTreeOptions, runProcessTree } from '../../src/process/process-tree.js';
import { treeSandbox } from '../../src/process/sandbox/open-sandbox.js';
import { tempWorkspace } from '../tools/support/temp-workspace.js';

// timers fire before what came during a stall is read

test('a command that ended by itself during a stall of the worker past its time is not told as timed out', async () => {
  const { signal } = new AbortController();
  // called when the time runs
  vi.spyOn(signal, 'addEventListener').mockImplementation(() => stall(1_500));
  const end = await run('echo done; exit 3', { signal, timeoutMs: 500 });
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
  await run(`head -c ${bytes} /dev/zero`, { signal, output });
  expect(received).toBe(bytes);
});

/** Keeps this process from reading anything, as a machine does that is busy or was suspended. */
function stall(timeMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, timeMs);
}

async function run(command: string, options: Partial<ProcessTreeOptions>) {
  const workspace = await tempWorkspace();
  const output = workspace.context().output.collect({ keep: 'head-tail' });
  const folder = workspace.root;
  const view = { folder, shown: [], writable: [folder], readOnly: [], hidden: [], network: { kind: 'none' } } as const;
  const end = await runProcessTree({
    order: treeSandbox(await processGroupSandbox()).order(command, view),
    folder,
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    output,
    outputBytesMax: 20_000_000,
    ...options,
  });
  return { ...end, output: options.output ? '' : await output.finish() };
}
