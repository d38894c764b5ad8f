import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { commandSandbox } from '../../src/process/command-sandbox.js';
import { tempWorkspace } from '../tools/support/temp-workspace.js';
import { runWithoutNamespaces } from './support/run-unprivileged.js';

/** Prints what a new process finds: the sandbox is chosen once per process. */
const FIND = `import { commandSandbox } from '${built('process/command-sandbox.js')}';
  const { kind, shell, problem } = await commandSandbox();
  console.log(JSON.stringify({ kind, shell, problem }));`;

test('commandSandbox: a ~/.bashrc that hangs neither runs nor weakens the sandbox', async () => {
  const { root } = await tempWorkspace();
  await writeFile(join(root, '.bashrc'), `touch ${root}/was-read\nwhile :; do sleep 1; done\n`);
  const { kind, shell } = await commandSandbox();
  const env = { ...process.env, HOME: root };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', FIND], { env });
  expect(JSON.parse(stdout)).toEqual({ kind, shell });
  expect(await readdir(root)).toEqual(['.bashrc']);
});

test('commandSandbox: a shell whose input is a socket reads no ~/.bashrc', async () => {
  const { root } = await tempWorkspace();
  await writeFile(join(root, '.bashrc'), 'echo was read');
  const { argv } = await commandSandbox();
  const [program = '', ...args] = argv;
  // the input that Node gives it is a socket
  const { stdout } = await promisify(execFile)(program, [...args, 'echo ran'], { env: { PATH: process.env['PATH'], HOME: root } });
  expect(stdout).toBe('ran\n');
});

test('commandSandbox: without namespaces it is a process group, with the reason', async () => {
  expect(JSON.parse(await runWithoutNamespaces(FIND))).toMatchObject({
    kind: 'process-group',
    problem: expect.stringMatching(/^unshare: .*(?:Operation not permitted|No space left on device)/u),
  });
});

test('doctor and a worker report child processes that only a process group keeps together', async () => {
  const script = `import { checkProcessGroups } from '${built('worker/self-check.js')}';
    import { requireSandbox } from '${built('worker/hosting/require-sandbox.js')}';
    const executor = { description: 'x', prompt: 'x', executor: { kind: 'subprocess', command: 'true' } };
    for (const config of [{ agents: { crew: executor } }, { sandbox: { mode: 'none' } }, {}]) {
      const said = [];
      await requireSandbox(config, (line) => said.push(line));
      const check = await checkProcessGroups({ config });
      console.log(check?.level, said.at(-1) === check?.detail, said.length, check?.detail);
    }`;
  const lines = (await runWithoutNamespaces(script)).trim().split('\n');
  expect(lines).toEqual([
    expect.stringMatching(/^warn true 1 processes of executors \(crew\) can leave .* outlive the worker: .*\(unshare: /u),
    expect.stringMatching(/^warn true 2 processes of commands can leave /u),
    'undefined true 0 undefined',
  ]);
});

/** A file of the built package. */
function built(path: string): string {
  return new URL(`../../dist/${path}`, import.meta.url).href;
}
