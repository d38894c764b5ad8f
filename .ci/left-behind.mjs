// What the tests leave behind: processes of this project that still run, and folders in the temporary folder.
//   node .ci/left-behind.mjs list        the folders that are there now, one line each
//   node .ci/left-behind.mjs check FILE  exit 1 and one line for each process, and each folder that is not in the file
// A worker in the background ends some time after its last run, so processes have a minute to end. Processes are found on Linux only.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PATIENCE_MS = 60_000;

const [verb, file = ''] = process.argv.slice(2);
if (verb === 'list') for (const folder of folders()) console.log(folder);
else if (verb === 'check') process.exitCode = (await check(readFileSync(file, 'utf8').split('\n'))) ? 0 : 1;
else throw new Error('use list, or check FILE');

async function check(before) {
  const until = Date.now() + PATIENCE_MS;
  while (processes().length > 0 && Date.now() < until) await delay(1_000);
  const left = [
    ...processes().map(({ pid, line }) => `process ${pid}: ${line}`),
    ...folders()
      .filter((folder) => !before.includes(folder))
      .map((folder) => `folder ${folder}`),
  ];
  for (const line of left) console.log(`left behind: ${line}`);
  if (left.length === 0) console.log('no process and no folder is left behind');
  return left.length === 0;
}

function folders() {
  return readdirSync(tmpdir())
    .filter((name) => name.startsWith('perdure-'))
    .map((name) => join(tmpdir(), name));
}

/** The processes whose command line names a file of this project, without this one and those that started it. */
function processes() {
  if (!existsSync('/proc/self/cmdline')) return [];
  const own = new Set(ancestors(process.pid));
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/u.test(pid) && !own.has(Number(pid)))
    .map((pid) => ({ pid, line: commandLine(pid) }))
    .filter(({ line }) => line.includes(ROOT))
    .map(({ pid, line }) => ({ pid, line: line.slice(0, 200) }));
}

function ancestors(pid) {
  const parent = Number(/^PPid:\s*(\d+)/mu.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
  return parent > 0 ? [pid, ...ancestors(parent)] : [pid];
}

function commandLine(pid) {
  return read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
}

/** A process may end at any moment. */
function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
