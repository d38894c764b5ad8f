import { createHash } from 'node:crypto';
import { type ChainHead, canonicalJson } from '../../contracts/digest.js';
import type { Message } from '../../contracts/schemas/message.js';

/** The same hash as `hashMessage` of the contracts, by Node: workflow code has only a JavaScript sha256, which takes ten times as long. */
export function hashMessage(message: Message): string {
  return sha256(canonicalJson(message));
}

/** The same head as `extendChain` of the contracts, by Node. */
export function extendChain(head: ChainHead, messageHash: string): ChainHead {
  return { length: head.length + 1, digest: sha256(head.digest + messageHash) };
}

/** The sha256 (hex) of a text. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
