import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = '/sys/fs/cgroup';
/** What a group answers that is removed meanwhile. */
const GONE = new Set(['ENOENT', 'ENODEV']);

/** The folders of the control groups of commands, those of other tests too. */
export async function commandGroups(folder = ROOT): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (folder !== ROOT && isGone(error)) return [];
    throw error;
  });
  const folders = entries.filter((entry) => entry.isDirectory());
  const below = await Promise.all(
    folders.map(async ({ name }) => {
      const path = join(folder, name);
      return [...(name.startsWith('perdure-') ? [path] : []), ...(await commandGroups(path))];
    }),
  );
  return below.flat();
}

/** True for a group without processes. False for one that is gone. */
export async function isEmptyGroup(group: string): Promise<boolean> {
  const processes = await readFile(join(group, 'cgroup.procs'), 'utf8').catch((error: unknown) => {
    if (isGone(error)) return undefined;
    throw error;
  });
  return processes === '';
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && GONE.has(String(error.code));
}
