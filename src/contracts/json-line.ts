import { cutText } from './failures.js';

/** Characters that show nothing, or that make what stands beside them look like something else. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The beginning of a value's JSON, at most `bytesMax` bytes, as a person reads it: one line, whose invisible characters are written out. */
export function jsonLine(value: unknown, bytesMax: number): string {
  return cutText(JSON.stringify(value).replaceAll(INVISIBLE, writtenOut), bytesMax);
}

function writtenOut(character: string): string {
  return Array.from({ length: character.length }, (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`).join('');
}
