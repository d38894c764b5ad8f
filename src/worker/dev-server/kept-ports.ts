import { z } from 'zod';
import { readRecord, writeRecord } from '../state-folder/record-file.js';
import { stateFolder } from '../state-folder/state-folder.js';
import type { DevServerPorts } from './ports.js';
import { type DevServerRecord, UI_URL } from './record.js';

const Port = z.number().int().min(1).max(65_535);

/**
 * `ports.json`: the addresses of the last server of a folder, which the next one uses again. It outlives the server, unlike `server.json`.
 * Only its owner can read it, because no web page may learn the host of the Web UI.
 */
const KeptPorts = z.object({ grpc: Port, http: Port, uiUrl: z.string().regex(UI_URL) });

/** The ports of the last server, and the host of its Web UI. */
export interface KeptAddresses {
  readonly ports: DevServerPorts;
  readonly uiHost: string;
}

/** Reads the addresses of the last server of a folder. Undefined if it never had one. An unreadable record is set aside and reported to `say`. */
export async function readKeptAddresses(stateDir: string, say: (line: string) => void): Promise<KeptAddresses | undefined> {
  const kept = await readRecord(stateFolder(stateDir).portsRecord, KeptPorts, say);
  return kept && addresses(kept);
}

/** Keeps the addresses of a server for the next one. */
export async function keepAddresses(stateDir: string, record: DevServerRecord): Promise<void> {
  const { uiUrl, httpPort: http } = record;
  await writeRecord(stateFolder(stateDir).portsRecord, { grpc: grpcPort(record), http, uiUrl });
}

/** The addresses of a recorded server. */
export function addressesOf(record: DevServerRecord): KeptAddresses {
  return addresses({ grpc: grpcPort(record), http: record.httpPort, uiUrl: record.uiUrl });
}

/** The port of the gRPC frontend of a recorded server. */
export function grpcPort({ address }: DevServerRecord): number {
  return Number(address.slice(address.lastIndexOf(':') + 1));
}

function addresses({ grpc, http, uiUrl }: z.infer<typeof KeptPorts>): KeptAddresses {
  const { hostname, port } = new URL(uiUrl);
  return { ports: { grpc, ui: Number(port), http }, uiHost: hostname };
}
