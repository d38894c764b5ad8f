import { rm } from 'node:fs/promises';
import { z } from 'zod';
import { isPidProvedDead, OWN_PLACE } from '../../process/process-identity.js';
import { readRecord, writeRecord } from '../state-folder/record-file.js';
import { stateFolder } from '../state-folder/state-folder.js';
import { namespaceIdAt } from '../temporal/probe.js';
import { type NamedProcess, namedProcess } from './server-process.js';

/** The address of a Web UI: only this machine, because a record that came with a copied folder leads to no other. */
export const UI_URL = /^http:\/\/127(?:\.\d{1,3}){3}:\d+$/u;

/**
 * `server.json`: the server that runs on the database of a folder, and its keeper. Written before the server is executed, so that no
 * server runs without a record. Changed only under `server.lock`.
 */
export const DevServerRecord = z.object({
  // only this machine: a record that came with a copied folder leads to no other
  address: z.string().regex(/^127\.0\.0\.1:\d+$/u),
  uiUrl: z.string().regex(UI_URL),
  /** The port of the HTTP API. */
  httpPort: z.number().int(),
  /** The only `Host` that the HTTP API answers. Absent of a server that an earlier version started: it answers every one. */
  httpHost: z.string().optional(),
  namespace: z.string(),
  /** The id of the namespace. The database contains it, so it identifies the server. Absent until the server has answered. */
  namespaceId: z.string().optional(),
  serverPid: z.number().int().positive(),
  serverStart: z.string(),
  keeperPid: z.number().int().positive(),
  keeperStart: z.string(),
  /** Host, boot and pid namespace of both processes. */
  place: z.string(),
});
export type DevServerRecord = z.infer<typeof DevServerRecord>;

/** Reads the record of a folder. Undefined if it is missing. An unreadable one is set aside and reported to `say`. */
export async function readDevServerRecord(stateDir: string, say: (line: string) => void = () => {}): Promise<DevServerRecord | undefined> {
  return readRecord(stateFolder(stateDir).serverRecord, DevServerRecord, say);
}

/** Replaces the record of a folder. A power loss leaves the old record or the new one. */
export async function writeDevServerRecord(stateDir: string, record: DevServerRecord): Promise<void> {
  await writeRecord(stateFolder(stateDir).serverRecord, record);
}

/** Removes the record of a folder. */
export async function removeDevServerRecord(stateDir: string): Promise<void> {
  await rm(stateFolder(stateDir).serverRecord, { force: true });
}

/** The recorded server: a process of this place, or `elsewhere`, where processes cannot be looked up. */
export function recordedServer(stateDir: string, record: DevServerRecord): NamedProcess | 'elsewhere' {
  if (record.place !== OWN_PLACE) return 'elsewhere';
  return namedProcess(stateDir, { pid: record.serverPid, start: record.serverStart });
}

/**
 * True if the server at the recorded address has the database of the record. Decides about a server in another container, boot or host:
 * another server may have its port today.
 */
export async function answersAsRecorded({ address, namespace, namespaceId }: DevServerRecord, timeoutMs: number): Promise<boolean> {
  return namespaceId !== undefined && (await namespaceIdAt(address, { namespace, timeoutMs })) === namespaceId;
}

/** True unless the recorded keeper is proved dead. */
export function isKeeperAlive(record: DevServerRecord): boolean {
  return record.place !== OWN_PLACE || !isPidProvedDead(record.keeperPid, record.keeperStart);
}
