import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { isPidProvedDead, stopProcess } from '../../../src/process/process-identity.js';
import { readDevServerRecord } from '../../../src/worker/dev-server/record.js';

/** An empty folder for one test. */
export async function makeStateDir(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'perdure-worker-'));
}

/** Ends server and keeper of the folder at once and removes it. */
export async function removeStateDir(stateDir: string): Promise<void> {
  const record = await readDevServerRecord(stateDir);
  if (record) {
    // the keeper first, so that it does not bring the server back
    await stopProcess(record.keeperPid, record.keeperStart, 0);
    await stopProcess(record.serverPid, record.serverStart, 0);
  }
  await rm(stateDir, { recursive: true, force: true });
}

/** Waits until the folder has no recorded server, and the processes of the last one are gone. */
export async function untilServerEnded(stateDir: string): Promise<void> {
  const record = await readDevServerRecord(stateDir);
  if (!record) return;
  await vi.waitFor(
    async () => {
      if (await readDevServerRecord(stateDir)) throw new Error('server.json is still there');
      if (!isPidProvedDead(record.serverPid, record.serverStart)) throw new Error(`server ${record.serverPid} still runs`);
      if (!isPidProvedDead(record.keeperPid, record.keeperStart)) throw new Error(`keeper ${record.keeperPid} still runs`);
    },
    { timeout: 20_000, interval: 50 },
  );
}
