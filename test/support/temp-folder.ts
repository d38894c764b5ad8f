import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';

/** An empty folder for each test of a file or group, by its real path; it is gone after the test. `prefix` begins its name. */
export function useTempFolder(prefix: string): { readonly path: string } {
  const folder = { path: '' };
  beforeEach(async () => {
    folder.path = await realpath(await mkdtemp(join(tmpdir(), prefix)));
  });
  afterEach(() => rm(folder.path, { recursive: true, force: true }));
  return folder;
}

/** Makes as many folders as a test asks for, by their real paths; they are gone after the test. `prefix` begins their names. */
export function useTempFolders(prefix: string): () => Promise<string> {
  const folders: string[] = [];
  afterEach(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
  });
  return async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), prefix)));
    folders.push(folder);
    return folder;
  };
}

/** An empty folder for each test, and the current folder of the process during the test. */
export function useCurrentFolder(prefix: string): { readonly path: string } {
  const folder = useTempFolder(prefix);
  const home = process.cwd();
  beforeEach(() => process.chdir(folder.path));
  afterEach(() => process.chdir(home));
  return folder;
}
