import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The pids of all processes that have the folder's database open for serving. */
export async function serversOn(dir: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/u.test(name));
  const commands = await Promise.all(pids.map(async (pid) => ({ pid: Number(pid), command: await commandOf(pid) })));
  const database = join(dir, 'temporal.db');
  return commands
    .filter(({ command }) => command.includes('start-dev') && command.includes(database) && !command.includes('/bin/sh'))
    .map(({ pid }) => pid);
}

async function commandOf(pid: string): Promise<string> {
  try {
    return await readFile(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // it ended meanwhile
    return '';
  }
}
