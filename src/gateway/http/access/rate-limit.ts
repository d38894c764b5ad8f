import { MINUTE_MS } from '../../../contracts/constants/units.js';

/** A bucket of requests: full at the start, refilled evenly. */
interface Bucket {
  left: number;
  at: number;
}

/** Limits the requests of each token. Pure but for its own buckets, of which there are as many as tokens within a minute. */
export class RateLimit {
  readonly #perMinute: number;
  readonly #buckets = new Map<string, Bucket>();

  /** `perMinute` requests a minute; as many may come at once. */
  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** How many buckets are kept. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Takes a request. Returns undefined, or the milliseconds to wait for the next one. */
  take(key: string, now: number): number | undefined {
    const bucket = this.#buckets.get(key) ?? { left: this.#perMinute, at: now };
    // the one that was used last stands last
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    bucket.left = Math.min(this.#perMinute, bucket.left + ((now - bucket.at) * this.#perMinute) / MINUTE_MS);
    bucket.at = now;
    this.#forgetFull(now);
    if (bucket.left < 1) return Math.ceil(((1 - bucket.left) * MINUTE_MS) / this.#perMinute);
    bucket.left -= 1;
    return undefined;
  }

  /** A bucket that was not used for a minute is full, as a new one is. */
  #forgetFull(now: number): void {
    for (const [key, { at }] of this.#buckets) {
      if (now - at < MINUTE_MS) return;
      this.#buckets.delete(key);
    }
  }
}
