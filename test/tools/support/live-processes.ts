import { readdir, readFile } from 'node:fs/promises';

/** Pids of live processes (no zombies) that carry a marker on their command line, whatever namespace they are in. */
export async function liveProcesses(marker: string): Promise<number[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/u.test(name));
  const pids: number[] = [];
  for (const name of names) {
    // a process may end between the listing and the look at it
    const commandLine = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (commandLine.includes(marker)) pids.push(Number(name));
  }
  return pids;
}
