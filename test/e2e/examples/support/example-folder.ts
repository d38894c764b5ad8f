import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, inject } from 'vitest';
import { builtCli } from '../../../support/built-package.js';
import { removeStateDir } from '../../../worker/support/state-dir.js';
import { Command } from '../../support/command.js';

const PACKAGE = fileURLToPath(new URL('../../../..', import.meta.url));
const EXAMPLES = join(PACKAGE, 'examples');

/** What examples install beside this package. */
const INSTALLED = ['@modelcontextprotocol', '@temporalio', 'fastify'] as const;

/** The default parent of the copies, and one that sandboxed programs see: they have a `/tmp` of their own. */
const HIDDEN = tmpdir();
export const VISIBLE = join(PACKAGE, 'coverage');

/** A copy of all examples with the built command line beside it, made for each test in `parent`; `name` is the one that is run. */
export function useExample(name: string, parent = HIDDEN) {
  let root: string;
  const commands: Command[] = [];
  beforeEach(async () => {
    await mkdir(parent, { recursive: true });
    root = await mkdtemp(join(parent, 'perdure-examples-'));
    await cp(EXAMPLES, join(root, 'examples'), { recursive: true, filter: isSource });
    await mkdir(join(root, 'home'));
    await symlink(dirname(builtCli()), join(root, 'bin'));
    await mkdir(join(root, 'node_modules'));
    await symlink(PACKAGE, join(root, 'node_modules', 'perdure'));
    for (const name of INSTALLED) await symlink(join(PACKAGE, 'node_modules', name), join(root, 'node_modules', name));
  });
  afterEach(async () => {
    await Promise.all(commands.splice(0).map((command) => command.isRunning && command.kill('SIGKILL')));
    await removeStateDir(join(root, 'examples', name, '.perdure'));
    await rm(root, { recursive: true, force: true });
  });
  const env = () => ({ PATH: process.env['PATH'], HOME: join(root, 'home'), PERDURE_TEMPORAL_BIN: inject('temporalBinary') });
  const run = async (script: string, args: readonly string[]) =>
    await promisify(execFile)(process.execPath, [script, ...args], { env: env(), cwd: join(root, 'examples', name) });
  return {
    /** A file of the example's folder. */
    path: (...names: string[]) => join(root, 'examples', name, ...names),
    /** Starts a program that goes on, of the example's folder or the command line itself; ended after the test. */
    spawn: (args: readonly string[], { program = builtCli(), ...given }: { program?: string } & NodeJS.ProcessEnv = {}): Command => {
      const command = new Command(args, { cwd: join(root, 'examples', name), env: { ...env(), ...given }, program });
      commands.push(command);
      return command;
    },
    /** Runs the example as its README says. */
    start: (...args: string[]) => run(join(root, 'examples', name, 'start.mjs'), args),
    /** Another command in the example's folder, as JSON. */
    ask: async (...args: string[]): Promise<unknown> => JSON.parse((await run(builtCli(), [...args, '--json'])).stdout),
  };
}

/** Not what earlier runs left in the examples' folders. */
function isSource(path: string): boolean {
  return !/\/(?:playground|node_modules|\.perdure|\.venv)$/u.test(path);
}
