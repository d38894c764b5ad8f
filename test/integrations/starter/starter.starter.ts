import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { codeBlocks } from '../../docs/support/pages.js';
import { packPackage } from '../../support/packed-package.js';
import { removeStateDir } from '../../worker/support/state-dir.js';

const STEP_MS_MAX = 600_000;

describe('D4: a project of the packed tarball, in an empty folder with an empty home', { timeout: STEP_MS_MAX }, () => {
  let root: string;
  let tarball: string;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'perdure-starter-'));
    for (const name of ['packed', 'home', 'here']) await mkdir(join(root, name));
    tarball = await packPackage(join(root, 'packed'));
  });
  afterAll(async () => {
    await removeStateDir(join(root, 'here', 'shop', '.perdure'));
    // the server of the project's tests outlives them
    const ofTests = join(root, 'home', '.cache', 'perdure', 'test');
    for (const project of await readdir(ofTests)) await removeStateDir(join(ofTests, project));
    await rm(root, { recursive: true, force: true });
  });

  it('perdure init of the tarball writes it, and says what to type next', async () => {
    const output = await run('here', `npx --yes --package ${tarball} perdure init shop`);
    expect(output).toContain('created shop/perdure.config.ts');
    expect(output).toContain('Next:\n  cd shop\n  npm install\n  npm test\n');
    const { dependencies } = JSON.parse(await readFile(join(root, 'here', 'shop', 'package.json'), 'utf8'));
    expect(dependencies.perdure).toMatch(/^file:.*\.tgz$/u);
  });

  it('the commands of its README work from the registry: install, the tests, and a run without a key', async () => {
    const readme = { path: 'README.md', text: await readFile(join(root, 'here', 'shop', 'README.md'), 'utf8') };
    const [block] = codeBlocks(readme);
    const [install = '', tests = '', task = '', ...others] = block?.code.trim().split('\n') ?? [];
    expect([install, tests, others]).toEqual(['npm install', 'npm test', []]);
    await run('here/shop', install);
    expect(await run('here/shop', tests)).toMatch(/Tests\s+4 passed \(4\)/u);
    expect(await run('here/shop', task)).toContain('Order 7 is a desk lamp, shipped on 3 May.');
  });

  it('its types are right, and its lock file leads to no folder of another project', async () => {
    expect(await run('here/shop', 'npm run --silent check')).toBe('');
    const lock = await readFile(join(root, 'here', 'shop', 'package-lock.json'), 'utf8');
    expect(lock).not.toContain('"link": true');
  });

  /** Runs a line of shell code. Rejects with all it printed when it fails. */
  async function run(where: string, line: string): Promise<string> {
    const env = {
      PATH: process.env['PATH'],
      HOME: join(root, 'home'),
      PERDURE_TEMPORAL_BIN: inject('temporalBinary'),
      NO_COLOR: '1',
      ...registry(),
    };
    const options = { cwd: join(root, where), env, timeout: STEP_MS_MAX, maxBuffer: 64 * 1024 * 1024 };
    try {
      return (await promisify(execFile)('bash', ['-c', `exec 2>&1\n${line}`], options)).stdout;
    } catch (error) {
      throw new Error(`${line}\n${error instanceof Error && 'stdout' in error ? String(error.stdout) : ''}`, { cause: error });
    }
  }
});

/** A machine behind a mirror names it, or the proxy to it, in the environment. */
function registry(): NodeJS.ProcessEnv {
  const names = Object.keys(process.env).filter((name) =>
    /^(?:npm_config_registry|https?_proxy|no_proxy|node_extra_ca_certs)$/iu.test(name),
  );
  return Object.fromEntries(names.map((name) => [name, process.env[name]]));
}
