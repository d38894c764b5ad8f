import { PerdureError } from '../contracts/perdure-error.js';
import type { RedisServer } from './redis-client.js';
import { redisUrlProblem } from './redis-url.js';

/** The field of an entry that contains the event as JSON. */
export const EVENT_FIELD = 'event';

const KEY_PREFIX = 'perdure:stream:';

/** The key of a run's stream. Never throws. */
export function streamKey(prefix: string | undefined, runId: string): string {
  return `${prefix ?? KEY_PREFIX}${runId}`;
}

/** Checks the form of an address before it is used. Throws PerdureError `REDIS_URL` (2), without the address. */
export function checkServer(server: RedisServer): RedisServer {
  const problem = server.url === undefined ? undefined : redisUrlProblem(server.url, { allowInsecure: true });
  if (problem !== undefined) throw new PerdureError('REDIS_URL', `the address of Redis is ${problem}`, 2);
  return server.url === undefined ? { client: server.client } : { url: server.url };
}

/** An entry of a stream: its ID, and its event as JSON. */
export interface RedisEntry {
  readonly id: string;
  readonly event: string;
}

/** The entries of a reply to XREAD by their key. The shape depends on the protocol and on the client. */
export function entriesIn(reply: unknown): ReadonlyMap<string, readonly RedisEntry[]> {
  return new Map(streamsIn(reply).map(([key, entries]) => [String(key), (entries as unknown[]).flatMap(entryOf)]));
}

function streamsIn(reply: unknown): readonly (readonly [unknown, unknown])[] {
  if (reply === null || reply === undefined) return [];
  // protocol 3: a map, which clients show as a Map, an object, or a flat list
  if (reply instanceof Map) return [...reply];
  if (!Array.isArray(reply)) return Object.entries(reply);
  if (!Array.isArray(reply[0])) return reply.flatMap((key, index) => (index % 2 === 0 ? [[key, reply[index + 1]] as const] : []));
  // protocol 2: a list of pairs; a server answers with nothing else
  return reply as [unknown, unknown][];
}

/** An entry of others, without the field, counts as an event that cannot be read. */
function entryOf(entry: unknown): RedisEntry {
  const [id, fields] = entry as [unknown, readonly unknown[]];
  const at = fields.findIndex((field, index) => index % 2 === 0 && String(field) === EVENT_FIELD);
  return { id: String(id), event: at === -1 ? '' : String(fields[at + 1]) };
}

/** True if an entry is behind another one. */
export function isBehind(id: string, other: string): boolean {
  const [ms = 0, seq = 0] = id.split('-').map(Number);
  const [otherMs = 0, otherSeq = 0] = other.split('-').map(Number);
  return ms > otherMs || (ms === otherMs && seq > otherSeq);
}
