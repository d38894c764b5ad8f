import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type DevServer, openDevServer } from '../../worker/dev-server/dev-server.js';
import { readDevServerRecord, recordedServer } from '../../worker/dev-server/record.js';
import { withFolderLock } from '../../worker/state-folder/folder-lock.js';
import { cacheFolder, openStateFolder } from '../../worker/state-folder/state-folder.js';

let opened: Promise<DevServer> | undefined;

/**
 * The address of the Temporal server of all tests of this project (of the current folder). The first test starts it, and tests of other
 * files and processes find it. It stops 3 s after the last process that used it, and the next one starts with an empty database. Throws
 * as `openDevServer` does.
 */
export async function testServerAddress(say: (line: string) => void): Promise<string> {
  opened ??= openTestServer(say);
  try {
    return (await opened).address;
  } catch (error) {
    opened = undefined;
    throw error;
  }
}

/** Not closed: the server notices the end of this process. */
async function openTestServer(say: (line: string) => void): Promise<DevServer> {
  const project = createHash('sha256').update(process.cwd()).digest('hex').slice(0, 16);
  const stateDir = join(cacheFolder(process.env), 'test', project);
  const { database, dir } = await openStateFolder(stateDir);
  return await withFolderLock(join(dir, 'test.lock'), {}, async () => {
    const record = await readDevServerRecord(stateDir);
    const named = record === undefined ? 'gone' : recordedServer(stateDir, record);
    // the histories of earlier tests are of no use, and would fill the disk
    if (named === 'gone') for (const file of [database, `${database}-wal`, `${database}-shm`]) await rm(file, { force: true });
    return await openDevServer({ stateDir, say });
  });
}
