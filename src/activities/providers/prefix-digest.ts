import { createHash } from 'node:crypto';

const DIGEST_CHARS = 22;

/**
 * A digest of all that a request says before a point of it. It is made only where somebody asks: most requests hold nothing that must be
 * compared with what was sent before.
 */
export class PrefixDigest {
  readonly #hash = createHash('sha256');
  #waiting: unknown[] = [];

  /** Adds JSON that is sent after all that was added so far. */
  add(piece: unknown): void {
    this.#waiting.push(piece);
  }

  /** The digest so far; more may be added afterwards. */
  digest(): string {
    for (const piece of this.#waiting) this.#hash.update(`${JSON.stringify(piece)}\n`);
    this.#waiting = [];
    return this.#hash.copy().digest('base64url').slice(0, DIGEST_CHARS);
  }
}
