import { readFile, rm } from 'node:fs/promises';
import { z } from 'zod';
import { writeJson } from '../state-folder/atomic-json.js';
import { absent, isGone } from '../state-folder/presence.js';
import { isPidProvedDead, OWN_PLACE } from '../state-folder/process-identity.js';
import { stateFolder } from '../state-folder/state-folder.js';

/**
 * `server.json`: the server that runs on the database of a folder, and its keeper. Written before the server is executed, so that no
 * server runs without a record. Changed only under `server.lock`.
 */
export const DevServerRecord = z.object({
  address: z.string(),
  uiUrl: z.string(),
  /** The port of the HTTP API. */
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

/** Reads the record of a folder. Undefined if it is missing or invalid, for example written by another version. */
export async function readDevServerRecord(stateDir: string): Promise<DevServerRecord | undefined> {
  const text = await readFile(stateFolder(stateDir).serverRecord, 'utf8').catch(absent);
  if (text === undefined) return undefined;
  try {
    return DevServerRecord.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Replaces the record of a folder atomically. */
export async function writeDevServerRecord(stateDir: string, record: DevServerRecord): Promise<void> {
  await writeJson(stateFolder(stateDir).serverRecord, record);
}

/** Removes the record of a folder. */
export async function removeDevServerRecord(stateDir: string): Promise<void> {
  await rm(stateFolder(stateDir).serverRecord, { force: true });
}

/** True unless the recorded server is dead: proved for a process of this place, assumed after 30 s without a touch for any other. */
export async function isServerAlive(stateDir: string, record: DevServerRecord): Promise<boolean> {
  const owner = { pid: record.serverPid, start: record.serverStart, place: record.place };
  return !(await isGone(stateFolder(stateDir).serverRecord, owner));
}

/** True unless the recorded keeper is proved dead. */
export function isKeeperAlive(record: DevServerRecord): boolean {
  return record.place !== OWN_PLACE || !isPidProvedDead(record.keeperPid, record.keeperStart);
}
