import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { passEnvironment } from '../../../src/worker/hosting/passed-environment.js';
import { builtCli } from '../../support/built-package.js';
import { hasOrSays } from '../../support/has-or-says.js';

/** Prints what it was started with, and what it has after it took the rest. */
const PROGRAM = `
const before = { ...process.env };
(await import(process.argv[1])).takeEnvironment();
console.log(JSON.stringify({ before, after: process.env }));
`;

describe('passEnvironment', () => {
  it.runIf(hasOrSays(process.platform !== 'win32', 'POSIX system'))(
    'starts a process without what may be a secret, and gives it all variables',
    async () => {
      builtCli();
      const given = {
        PATH: process.env['PATH'] ?? '',
        LC_ALL: 'C.UTF-8',
        NODE_NO_WARNINGS: '1',
        NODE_AUTH_TOKEN: 'a token',
        OPENAI_API_KEY: 'a key',
        MINE: 'ä\n"quoted"',
        EMPTY: '',
        // Node reads it at its start
        HTTPS_PROXY: 'http://proxy.example:3128',
      };
      const passed = passEnvironment(given, 3);
      const module = fileURLToPath(new URL('../../../dist/worker/hosting/passed-environment.js', import.meta.url));
      const args = ['--input-type=module', '-e', PROGRAM, module];
      const child = spawn(process.execPath, args, { env: passed.env, stdio: ['ignore', 'pipe', 'inherit', passed.stdio] });
      passed.send(child);
      if (!child.stdout) throw new Error('no output');
      const { before, after } = JSON.parse(await text(child.stdout));
      expect(Object.keys(before).toSorted()).toEqual(['HTTPS_PROXY', 'LC_ALL', 'NODE_NO_WARNINGS', 'PATH', 'PERDURE_ENVIRONMENT_FD']);
      expect(after).toEqual(given);
    },
  );

  it('does not end with an error when the process is gone before it read', async () => {
    const passed = passEnvironment({ PATH: process.env['PATH'], MINE: 'x'.repeat(1_000_000) }, 3);
    const child = spawn('true', [], { env: passed.env, stdio: ['ignore', 'ignore', 'ignore', passed.stdio] });
    passed.send(child);
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0);
  });
});
