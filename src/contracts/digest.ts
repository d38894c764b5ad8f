import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Message } from './schemas/message.js';
import type { SendInput } from './schemas/session.js';

/** Head of a transcript: its number of messages, and the chained digest over them. */
export interface ChainHead {
  readonly length: number;
  readonly digest: string;
}

/** The head of an empty transcript. */
export const EMPTY_CHAIN: ChainHead = { length: 0, digest: '' };

/**
 * The sha256 (hex) of a value's canonical JSON: sorted keys, without `undefined`. Independent of codecs and external storage. Pure
 * JavaScript, because workflow code has no node:crypto.
 */
export function hashJson(value: unknown): string {
  return bytesToHex(sha256(utf8ToBytes(canonicalJson(value))));
}

/** The hash that identifies a message in caches and references. */
export function hashMessage(message: Message): string {
  return hashJson(message);
}

/** The hash of a message to a session without its id and its signature. A signature covers it, so that nobody needs the content to check one. */
export function hashContent({ text, parts, queue }: Omit<SendInput, 'id'>): string {
  return hashJson({ text, parts, queue });
}

/** The head after one more message: `digest(n) = sha256(digest(n-1) + hash(n))`. */
export function extendChain(head: ChainHead, messageHash: string): ChainHead {
  return { length: head.length + 1, digest: bytesToHex(sha256(utf8ToBytes(head.digest + messageHash))) };
}

/** JSON with sorted keys: equal values give equal text, whatever the order of their keys. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const entries = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`).join(',')}}`;
}
