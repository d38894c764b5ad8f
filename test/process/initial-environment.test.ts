import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { builtCli } from '../support/built-package.js';
import { hasOrSays } from '../support/has-or-says.js';

/** Erases, then prints what `/proc` shows, what it has itself, and what a child inherits. */
const PROGRAM = `
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
const { eraseInitialValues } = await import(process.argv[1]);
const isDone = eraseInitialValues((name) => name.startsWith('SECRET'));
const shown = readFileSync('/proc/self/environ', 'latin1').split('\\0');
const inherited = execFileSync('sh', ['-c', 'printf %s "$SECRET_A,$PLAIN"'], { encoding: 'utf8' });
console.log(JSON.stringify({ isDone, shown, own: [process.env.SECRET_A, process.env.SECRET_EMPTY, process.env.PLAIN], inherited }));
`;

describe('eraseInitialValues', () => {
  it.runIf(hasOrSays(process.platform === 'linux', '/proc'))(
    'removes values from /proc/PID/environ, and leaves them in process.env and to children',
    async () => {
      const env = { PATH: process.env['PATH'], SECRET_A: 'hunter2=x', SECRET_EMPTY: '', PLAIN: 'keep SECRET_A=hunter2', SECRETÄ: 'ä' };
      const seen = JSON.parse(await run(env));
      expect(seen).toMatchObject({
        isDone: true,
        own: ['hunter2=x', '', 'keep SECRET_A=hunter2'],
        inherited: 'hunter2=x,keep SECRET_A=hunter2',
      });
      expect(seen.shown).toContain('PLAIN=keep SECRET_A=hunter2');
      expect(seen.shown).toContain('SECRET_A=');
      expect(seen.shown.join('\0')).not.toContain('hunter2=x');
    },
  );

  it.runIf(hasOrSays(process.platform === 'linux', '/proc'))(
    'leaves a value that is not a text as it is, because its bytes would change',
    async () => {
      const seen = JSON.parse(await run({ PATH: process.env['PATH'] }, ['env', 'bash', '-c', `SECRET_A=$'a\\xff' exec "$0" "$@"`]));
      expect(seen.shown.find((entry: string) => entry.startsWith('SECRET_A='))).toBe('SECRET_A=a\u00ff');
    },
  );
});

async function run(env: NodeJS.ProcessEnv, [program = process.execPath, ...before]: readonly string[] = []): Promise<string> {
  const module = new URL('../dist/process/initial-environment.js', `file://${builtCli()}`).href;
  const node = before.length > 0 ? [process.execPath] : [];
  const { stdout } = await promisify(execFile)(program, [...before, ...node, '--input-type=module', '-e', PROGRAM, module], { env });
  return stdout;
}
