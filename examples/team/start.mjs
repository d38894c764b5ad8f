// Runs the team on a new copy of the sample workspace, and shows the tree of its runs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const perdure = fileURLToPath(new URL('../../bin/perdure', import.meta.url));
const runId = process.argv[2] ?? `team-${Date.now()}`;

await rm(join(here, 'playground'), { recursive: true, force: true });
await cp(join(here, 'workspace'), join(here, 'playground'), { recursive: true });

/** Runs a perdure command as you would type it. Resolves with its exit code. */
async function type(...args) {
  console.error(`in examples/team: perdure ${args.join(' ')}`);
  const command = spawn(process.execPath, [perdure, ...args], { cwd: here, stdio: 'inherit' });
  const [code, signal] = await once(command, 'exit');
  return code ?? (signal === null ? 1 : 128);
}

// the perdure command handles Ctrl-C: it detaches from the run and exits
process.on('SIGINT', () => undefined);
const budget = ['--max-tokens', '60000'];
process.exitCode = await type('run', 'Write the release notes.', '--agent', 'lead', '--workspace', 'playground', ...budget, '--id', runId);
await type('show', runId);
