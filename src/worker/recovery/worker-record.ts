import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { absent } from '../state-folder/presence.js';
import { isOfThisPlace, isProvedDead, parseWorkerIdentity } from '../state-folder/process-identity.js';
import { readRecord, writeRecord } from '../state-folder/record-file.js';
import { stateFolder } from '../state-folder/state-folder.js';

/** The identity of a worker that has polled for this folder. */
export interface WorkerRecord {
  readonly identity: string;
  /** Removes the record. Call it when no call of this worker is pending. */
  forget(): Promise<void>;
}

const RecordFile = z.object({ identity: z.string() });

/** Records the identity of a worker. Written before the worker polls, so that its calls can be recovered after its death. */
export async function recordWorker(stateDir: string, identity: string): Promise<WorkerRecord> {
  // pid, start time and random part: unique and safe as a file name
  const path = join(stateFolder(stateDir).workers, `${identity.split('/').slice(-3).join('-')}.json`);
  await writeRecord(path, { identity } satisfies z.infer<typeof RecordFile>);
  return { identity, forget: () => rm(path, { force: true }) };
}

/**
 * Lists the recorded workers whose processes are proved dead. Never lists those of another host, boot or container. An unreadable record
 * is set aside and reported to `say`.
 */
export async function deadWorkers(stateDir: string, say: (line: string) => void): Promise<WorkerRecord[]> {
  const records = await recordedWorkers(stateDir, say);
  return records.filter(({ identity }) => {
    const owner = parseWorkerIdentity(identity);
    return owner !== undefined && isProvedDead(owner);
  });
}

/** True if another worker of this place is recorded: it finishes its calls, or has just died. */
export async function hasOtherWorkers(stateDir: string, own: string, say: (line: string) => void): Promise<boolean> {
  const records = await recordedWorkers(stateDir, say);
  return records.some(({ identity }) => {
    const owner = parseWorkerIdentity(identity);
    return owner !== undefined && identity !== own && isOfThisPlace(owner);
  });
}

async function recordedWorkers(stateDir: string, say: (line: string) => void): Promise<WorkerRecord[]> {
  const { workers } = stateFolder(stateDir);
  const names = ((await readdir(workers).catch(absent)) ?? []).filter((name) => name.endsWith('.json') && !name.startsWith('.'));
  const found = await Promise.all(
    names.map(async (name) => {
      const path = join(workers, name);
      const record = await readRecord(path, RecordFile, say);
      return record ? [{ identity: record.identity, forget: () => rm(path, { force: true }) }] : [];
    }),
  );
  return found.flat();
}
