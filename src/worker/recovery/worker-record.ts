import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isOfThisPlace, isProvedDead, parseWorkerIdentity } from '../../process/process-identity.js';
import { absent } from '../state-folder/presence.js';
import { readRecord, writeRecord } from '../state-folder/record-file.js';
import { stateFolder } from '../state-folder/state-folder.js';

/** The identity of a worker that has polled for this folder. */
export interface WorkerRecord {
  readonly identity: string;
  /** Removes the record. Call it when no call of this worker is pending. */
  forget(): Promise<void>;
}

/** `server`: the name of a shared server. Absent for the embedded one. */
const RecordFile = z.object({ identity: z.string(), server: z.string().optional() });

/**
 * Records the identity of a worker. Written before the worker polls, so that its calls can be recovered after its death. `server` names a
 * shared server, because the workers of one folder may serve several.
 */
export async function recordWorker(stateDir: string, identity: string, server?: string): Promise<WorkerRecord> {
  const { workers } = stateFolder(stateDir);
  await mkdir(workers, { recursive: true, mode: 0o700 });
  // pid, start time and random part: unique and safe as a file name
  const path = join(workers, `${identity.split('/').slice(-3).join('-')}.json`);
  await writeRecord(path, { identity, ...(server === undefined ? {} : { server }) } satisfies z.infer<typeof RecordFile>);
  return { identity, forget: () => rm(path, { force: true }) };
}

/** Where to look for records. */
export interface RecordSource {
  /** The name of a shared server. Undefined: the embedded one. */
  readonly server?: string | undefined;
  /** Receives a notice for each unreadable record, which is set aside. */
  readonly say: (line: string) => void;
}

/** Lists the recorded workers of a server whose processes are proved dead. Never lists those of another host, boot or container. */
export async function deadWorkers(stateDir: string, source: RecordSource): Promise<WorkerRecord[]> {
  const records = await recordedWorkers(stateDir, source);
  return records.filter(({ identity }) => {
    const owner = parseWorkerIdentity(identity);
    return owner !== undefined && isProvedDead(owner);
  });
}

/** True if another worker of this place is recorded for the embedded server: it finishes its calls, or has just died. */
export async function hasOtherWorkers(stateDir: string, own: string, say: (line: string) => void): Promise<boolean> {
  const records = await recordedWorkers(stateDir, { say });
  return records.some(({ identity }) => {
    const owner = parseWorkerIdentity(identity);
    return owner !== undefined && identity !== own && isOfThisPlace(owner);
  });
}

async function recordedWorkers(stateDir: string, { server, say }: RecordSource): Promise<WorkerRecord[]> {
  const { workers } = stateFolder(stateDir);
  const names = ((await readdir(workers).catch(absent)) ?? []).filter((name) => name.endsWith('.json') && !name.startsWith('.'));
  const found = await Promise.all(
    names.map(async (name) => {
      const path = join(workers, name);
      const record = await readRecord(path, RecordFile, say);
      return record?.server === server && record ? [{ identity: record.identity, forget: () => rm(path, { force: true }) }] : [];
    }),
  );
  return found.flat();
}
