import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { CLIENT_LIMITS } from '../constants/limits.js';

/** Beginning of a long id that stays readable. */
const HEAD_CHARS = 100;

/**
 * The id that stands for a text: the text, or of a longer one than ids may be its beginning and its hash, so that two of them stay two.
 * Such an id has a `#`, which no id that people choose has. Pure.
 */
export function idOfText(text: string): string {
  if (text.length <= CLIENT_LIMITS.idCharsMax) return text;
  return `${text.slice(0, HEAD_CHARS).toWellFormed()}#${bytesToHex(sha256(utf8ToBytes(text)))}`;
}
