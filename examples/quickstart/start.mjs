// Runs the agent of this folder on a new copy of the sample workspace and lists the changed files.
// Passes options on: node start.mjs --model openai/gpt-5.4-mini
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const sample = join(here, 'workspace');
const playground = join(here, 'playground');

await rm(playground, { recursive: true, force: true });
await cp(sample, playground, { recursive: true });

const perdure = fileURLToPath(new URL('../../bin/perdure', import.meta.url));
const options = ['--agent', 'fixer', '--workspace', 'playground', ...process.argv.slice(2)];
console.error(`in examples/quickstart: perdure run 'Fix ticket 7.' ${options.join(' ')}`);
const run = spawn(process.execPath, [perdure, 'run', 'Fix ticket 7.', ...options], { cwd: here, stdio: 'inherit' });
// the perdure command handles Ctrl-C: it detaches from the run and exits
process.on('SIGINT', () => undefined);
const [code, signal] = await once(run, 'exit');

for (const name of await readdir(playground)) {
  const before = await readFile(join(sample, name), 'utf8').catch(() => undefined);
  const after = await readFile(join(playground, name), 'utf8');
  if (before !== after) console.error(`${before === undefined ? 'new' : 'changed'}: examples/quickstart/playground/${name}`);
}
process.exitCode = code ?? (signal === null ? 1 : 128);
