import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeJson } from '../state-folder/atomic-json.js';
import { absent } from '../state-folder/presence.js';
import { isProvedDead, parseWorkerIdentity } from '../state-folder/process-identity.js';
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
  await writeJson(path, { identity } satisfies z.infer<typeof RecordFile>);
  return { identity, forget: () => rm(path, { force: true }) };
}

/** Lists the recorded workers whose processes are proved dead. Never lists those of another host, boot or container. */
export async function deadWorkers(stateDir: string): Promise<WorkerRecord[]> {
  const { workers } = stateFolder(stateDir);
  const names = ((await readdir(workers).catch(absent)) ?? []).filter((name) => name.endsWith('.json') && !name.startsWith('.'));
  const dead: WorkerRecord[] = [];
  for (const name of names) {
    const path = join(workers, name);
    const text = await readFile(path, 'utf8').catch(absent);
    if (text === undefined) continue;
    const { identity } = RecordFile.parse(JSON.parse(text));
    const owner = parseWorkerIdentity(identity);
    if (owner && isProvedDead(owner)) dead.push({ identity, forget: () => rm(path, { force: true }) });
  }
  return dead;
}
