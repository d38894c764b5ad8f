import { readFile, rm } from 'node:fs/promises';
import { z } from 'zod';
import { writeJson } from '../state-folder/atomic-json.js';
import { absent, isGone } from '../state-folder/presence.js';
import { isPidProvedDead, OWN_PLACE } from '../state-folder/process-identity.js';
import { stateFolder } from '../state-folder/state-folder.js';

/**
 * `server.json`: the server that runs on a folder's database, and the keeper that will stop it.
 * Written before the server's process becomes the server, so that no server ever runs unrecorded. Changed only under `server.lock`.
 */
export const DevServerRecord = z.object({
  address: z.string(),
  uiUrl: z.string(),
  /** Port of the server's HTTP API. */
  httpPort: z.number().int(),
  namespace: z.string(),
  serverPid: z.number().int(),
  serverStart: z.string(),
  keeperPid: z.number().int(),
  keeperStart: z.string(),
  /** Host, boot and pid namespace of both processes. */
  place: z.string(),
});
export type DevServerRecord = z.infer<typeof DevServerRecord>;

/** The record of a folder; undefined when there is none. One that cannot be read (written by hand or another version) counts as none. */
export async function readDevServerRecord(stateDir: string): Promise<DevServerRecord | undefined> {
  const text = await readFile(stateFolder(stateDir).serverRecord, 'utf8').catch(absent);
  if (text === undefined) return undefined;
  try {
    return DevServerRecord.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Replaces the folder's record in one step. */
export async function writeDevServerRecord(stateDir: string, record: DevServerRecord): Promise<void> {
  await writeJson(stateFolder(stateDir).serverRecord, record);
}

/** Removes the folder's record. */
export async function removeDevServerRecord(stateDir: string): Promise<void> {
  await rm(stateFolder(stateDir).serverRecord, { force: true });
}

/** True unless the recorded server is gone: proved for processes of this place, by the keeper's silence for those of another. */
export async function isServerAlive(stateDir: string, record: DevServerRecord): Promise<boolean> {
  const owner = { pid: record.serverPid, start: record.serverStart, place: record.place };
  return !(await isGone(stateFolder(stateDir).serverRecord, owner));
}

/** True unless the recorded keeper is proved dead. */
export function isKeeperAlive(record: DevServerRecord): boolean {
  return record.place !== OWN_PLACE || !isPidProvedDead(record.keeperPid, record.keeperStart);
}
