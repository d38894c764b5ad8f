import { hashJson } from '../contracts/digest.js';

/** The signature the wire server gives a thinking text. Sent back with another text, it is refused as the API refuses it. */
export function signatureOf(thinking: string): string {
  return Buffer.from(hashJson(thinking)).toString('base64');
}
