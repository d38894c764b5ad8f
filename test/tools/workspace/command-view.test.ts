import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { tempWorkspace } from '../support/temp-workspace.js';

const SOURCES = new URL('../../../dist/', import.meta.url).href;

/** A worker in its folder: it prints what a program of the folder prints in the sandbox of a command. */
const WORKER = `
  import { execFileSync } from 'node:child_process';
  import { openBounds } from '${SOURCES}tools/workspace/command-bounds.js';
  import { openJail } from '${SOURCES}tools/workspace/jail.js';
  const [workspace, program] = process.argv.slice(1);
  const bounds = await openBounds(await openJail(workspace), { sandbox: {}, protected: [], writable: [] });
  const { argv: [name, ...args], environment } = await bounds.order('sh ' + program + '; touch ' + program + ' || echo read-only; echo > here');
  console.log(bounds.kind, execFileSync(name, args, { env: environment, cwd: workspace, encoding: 'utf8' }));
  await bounds.close();
`;

describe('a command of a worker whose project is below /tmp', () => {
  it("sees the project's programs, which it cannot change, and writes to the workspace in it", async () => {
    const workspace = await tempWorkspace();
    const { root } = workspace;
    const project = dirname(root);
    const program = join(project, 'node_modules', 'tool.sh');
    await mkdir(dirname(program));
    await writeFile(program, 'echo the program ran');
    const args = ['--input-type=module', '--eval', WORKER, root, program];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: project });
    if (stdout.startsWith('process-tree')) throw new Error('no sandbox on this machine: nothing was shown');
    expect(stdout).toMatch(/^\S+ the program ran\n[^]*read-only\n/u);
    expect(await workspace.read('here')).toBe('\n');
  });
});
