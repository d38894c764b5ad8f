import { PAYLOAD_LIMITS } from '../../../contracts/constants/limits.js';
import type { Page, PageRequest } from '../../../contracts/schemas/page.js';
import { cutPosition } from '../../../contracts/text/sanitize-text.js';

/**
 * One page of entries, limited in bytes. The request may come from any client: anything but a number counts as absent. An entry larger
 * than a page comes in parts of its JSON text when the request has an `offset`; otherwise whole, on its own page.
 */
export function pageOf<Entry>(entries: readonly Entry[], request: PageRequest): Page<Entry> {
  const from = Math.max(0, Math.trunc(numberOr(request.from, 0)));
  const to = Math.min(numberOr(request.to, entries.length), entries.length);
  const bytesMax = Math.min(numberOr(request.bytesMax, PAYLOAD_LIMITS.pageBytesDefault), PAYLOAD_LIMITS.outsideBytesMax);
  // a part costs a request, so small entries are never divided
  const partBytes = Math.max(bytesMax, PAYLOAD_LIMITS.partBytesMin);
  const page: Entry[] = [];
  let bytes = 0;
  for (const entry of entries.slice(from, to)) {
    const text = JSON.stringify(entry);
    bytes += utf8Bytes(text);
    if (page.length === 0 && bytes > partBytes && request.offset !== undefined)
      return partOf<Entry>(text, { from, offset: request.offset, bytesMax: partBytes });
    if (page.length > 0 && bytes > bytesMax) break;
    page.push(entry);
  }
  return { from, next: from + page.length, entries: page };
}

/** The part of an entry's JSON text that begins at `offset`. The page moves on with the last part. */
function partOf<Entry>(
  text: string,
  { from, offset: given, bytesMax }: { readonly from: number; readonly offset: number; readonly bytesMax: number },
): Page<Entry> {
  const offset = Math.min(Math.max(0, Math.trunc(numberOr(given, 0))), text.length);
  let chars = bytesMax;
  // a character takes up to four bytes: the first slice that is too large tells how much of it fits, about
  for (let bytes = sizeOf(text.slice(offset, offset + chars)); bytes > bytesMax && chars > 2; ) {
    chars = Math.max(2, Math.min(chars - 1, Math.floor((chars * bytesMax) / bytes)));
    bytes = sizeOf(text.slice(offset, offset + chars));
  }
  const end = Math.min(text.length, offset + Math.max(2, chars));
  // a pair of surrogates is one character: half of one cannot be sent
  const next = cutPosition(text, end);
  const part = { offset, next, length: text.length, text: text.slice(offset, next) };
  return { from, next: next === text.length ? from + 1 : from, entries: [], part };
}

function numberOr(given: unknown, fallback: number): number {
  return typeof given === 'number' && Number.isFinite(given) ? given : fallback;
}

function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** The bytes that a text takes inside JSON. */
function sizeOf(text: string): number {
  return utf8Bytes(JSON.stringify(text));
}
