import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { builtCli } from '../e2e/support/built-cli.js';
import { removeStateDir } from '../worker/support/state-dir.js';

const EXAMPLES = fileURLToPath(new URL('../../examples', import.meta.url));

describe('the quickstart', () => {
  let root: string;
  let folder: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'perdure-examples-'));
    folder = join(root, 'examples', 'quickstart');
    await cp(EXAMPLES, join(root, 'examples'), { recursive: true, filter: isSource });
    await mkdir(join(root, 'home'));
    await symlink(dirname(builtCli()), join(root, 'bin'));
  });
  afterEach(async () => {
    await removeStateDir(join(folder, '.perdure'));
    await rm(root, { recursive: true, force: true });
  });

  it('ends with a finished run that fixed a copy of the sample, without any key', async () => {
    const { stdout, stderr } = await start();
    expect(stdout).toContain('Fixed ticket 7');
    expect(stderr).toMatch(/completed after 6 turns/u);
    expect(stderr.trim().split('\n').slice(-3)).toEqual([
      'new: examples/quickstart/playground/CHANGES.md',
      'changed: examples/quickstart/playground/price.mjs',
      'changed: examples/quickstart/playground/price.test.mjs',
    ]);
    expect(await fixed('playground')).toBe(true);
    expect(await fixed('workspace')).toBe(false);
  });

  async function start(): Promise<{ stdout: string; stderr: string }> {
    const env = { PATH: process.env['PATH'], HOME: join(root, 'home'), PERDURE_TEMPORAL_BIN: inject('temporalBinary') };
    return await promisify(execFile)(process.execPath, [join(folder, 'start.mjs')], { env });
  }

  async function fixed(copy: string): Promise<boolean> {
    return (await readFile(join(folder, copy, 'price.mjs'), 'utf8')).includes('pieces >= DISCOUNT_FROM');
  }
});

/** Not what earlier runs left in the example's folder. */
function isSource(path: string): boolean {
  return !/\/(?:playground|\.perdure)(?:\/|$)/u.test(path);
}
