import { hashJson } from '../../contracts/digest.js';

/**
 * The signature the wire server gives a thinking text. Sent back with another text, or after anything else than what it was bound to, it
 * is refused as the API refuses it.
 */
export function signatureOf(thinking: string, boundTo?: string): string {
  return Buffer.from(hashJson(boundTo === undefined ? thinking : [thinking, boundTo])).toString('base64');
}
