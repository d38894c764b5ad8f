import { readdir, readFile } from 'node:fs/promises';

/** A process that outlived the harness. */
export interface StrayProcess {
  readonly pid: number;
  readonly command: string;
}

/** Lists the processes with this variable in their environment, from /proc. Elsewhere the list is empty. Never lists this process. */
export async function processesWith(name: string, value: string): Promise<StrayProcess[]> {
  if (process.platform !== 'linux') return [];
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/u.test(entry)).map(Number);
  const found = await Promise.all(pids.filter((pid) => pid !== process.pid).map((pid) => inspect(pid, `${name}=${value}`)));
  return found.filter((stray) => stray !== undefined);
}

async function inspect(pid: number, variable: string): Promise<StrayProcess | undefined> {
  // a process that ends meanwhile, or belongs to another user, is not ours
  const [environment, command, status] = await Promise.all(
    ['environ', 'cmdline', 'stat'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')),
  );
  const isZombie = /\) Z /u.test(status ?? '');
  if (isZombie || !environment?.split('\0').includes(variable)) return undefined;
  return { pid, command: (command ?? '').replaceAll('\0', ' ').trim().slice(0, 200) };
}
