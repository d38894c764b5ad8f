import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, inject } from 'vitest';
import { builtCli } from '../../support/built-package.js';
import { removeStateDir } from '../../worker/support/state-dir.js';
import { type CodeBlock, ROOT } from './pages.js';

/** Longer than any step of a page takes on a busy machine. */
const STEP_MS_MAX = 300_000;

/** What a step printed, both outputs as a terminal shows them. */
export interface Printed {
  readonly output: string;
}

/** An empty folder for each test, with the built command line on the `PATH` and this package and zod installed: where a reader follows a page. */
export function usePageFolder() {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'perdure-page-'));
    await mkdir(join(root, 'home'));
    await mkdir(join(root, 'here', 'node_modules'), { recursive: true });
    await symlink(ROOT, join(root, 'here', 'node_modules', 'perdure'));
    await symlink(join(ROOT, 'node_modules', 'zod'), join(root, 'here', 'node_modules', 'zod'));
  });
  afterEach(async () => {
    await removeStateDir(join(root, 'here', '.perdure'));
    // the servers of `testAgent`
    const shared = join(root, 'home', '.cache', 'perdure', 'test');
    for (const name of await readdir(shared).catch(() => [])) await removeStateDir(join(shared, name));
    await rm(root, { recursive: true, force: true });
  });
  const env = () => ({
    PATH: `${dirname(builtCli())}:${process.env['PATH']}`,
    HOME: join(root, 'home'),
    PERDURE_TEMPORAL_BIN: inject('temporalBinary'),
    NO_COLOR: '1',
  });
  return {
    /** Brings the files of an example of the repository. */
    copyExample: (name: string) => cp(join(ROOT, 'examples', name), join(root, 'here'), { recursive: true, filter: isSource }),
    /** Saves a block under the name that its info gives. */
    save: ({ info, code }: CodeBlock) => writeFile(join(root, 'here', info), code),
    /** Runs a block of shell code as typed at a terminal. Rejects with all output when its last command fails. */
    run: async (code: string): Promise<Printed> => {
      const options = { cwd: join(root, 'here'), env: env(), timeout: STEP_MS_MAX };
      try {
        const { stdout } = await promisify(execFile)('bash', ['-c', `exec 2>&1\n${code}`], options);
        return { output: stdout };
      } catch (error) {
        // what it printed says more than that it failed
        throw new Error(`${code}${error instanceof Error && 'stdout' in error ? String(error.stdout) : ''}`, { cause: error });
      }
    },
  };
}

/** Not what earlier runs left in the example's folder. */
function isSource(path: string): boolean {
  return !/\/(?:playground|\.perdure)(?:\/|$)/u.test(path);
}
