import { createHash } from 'node:crypto';

const DIGEST_CHARS = 22;

/** Digests of pieces, for as long as anybody holds them: a transcript is sent many times. */
const known = new WeakMap<object, string>();

/**
 * A digest of all that a request says before a point of it. It is made only where somebody asks: most requests hold nothing that must be
 * compared with what was sent before.
 */
export class PrefixDigest {
  readonly #hash = createHash('sha256');
  #waiting: { readonly label: string; readonly piece: object }[] = [];

  /** Adds JSON that is sent after all that was added so far, and what it is. The piece must never change. */
  add(label: string, piece: object): void {
    this.#waiting.push({ label, piece });
  }

  /** The digest so far; more may be added afterwards. */
  digest(): string {
    for (const { label, piece } of this.#waiting) this.#hash.update(`${label} ${digestOf(piece)}\n`);
    this.#waiting = [];
    return short(this.#hash.copy().digest('base64url'));
  }
}

function digestOf(piece: object): string {
  const digest = known.get(piece) ?? short(createHash('sha256').update(JSON.stringify(piece)).digest('base64url'));
  known.set(piece, digest);
  return digest;
}

function short(digest: string): string {
  return digest.slice(0, DIGEST_CHARS);
}
