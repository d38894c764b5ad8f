import { hashJson } from '../../../../contracts/digest.js';

/**
 * What the wire server gives for a reasoning item's encrypted content: it fits this item and this summary only. Sent back with another
 * one, it is refused as the API refuses what it can not decrypt.
 */
export function encryptedReasoning(id: string, summary: readonly { readonly text: string }[]): string {
  return `gAAAA${Buffer.from(hashJson([id, ...summary.map(({ text }) => text)])).toString('base64')}`;
}

/** The id of an item of an answer: its kind, the answer, and its place there. */
export function itemId(kind: 'rs' | 'msg' | 'fc', answerId: string, place: number): string {
  return `${kind}_${answerId}_${place}`;
}

/** True when an id is that of the item which came right after a reasoning item, in the same answer. */
export function comesAfter(reasoningId: string, id: string): boolean {
  const [, answerId = '', place = ''] = reasoningId.match(/^rs_(.+)_(\d+)$/u) ?? [];
  return (['msg', 'fc'] as const).some((kind) => id === itemId(kind, answerId, Number(place) + 1));
}
