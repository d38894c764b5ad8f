import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { builtFolder } from '../support/built-package.js';

const PROGRAM = fileURLToPath(new URL('fixtures/few-descriptors.mjs', import.meta.url));

it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])('with %i free file descriptors a command fails or ends, and the process lives', async (free) => {
  const limited = ['-c', 'ulimit -n 60; exec "$@"', 'sh', process.execPath, PROGRAM, builtFolder(), String(free)];
  const { stdout } = await promisify(execFile)('/bin/sh', limited, { timeout: 20_000 });
  expect(stdout).toMatch(/^(?:itself|FAILED: no pipe for the output|FAILED: the command could not be started)/u);
});
