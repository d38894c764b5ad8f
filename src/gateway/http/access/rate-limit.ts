import { MINUTE_MS } from '../../../contracts/constants/units.js';

/** A bucket of requests: full at the start, refilled evenly. */
interface Bucket {
  left: number;
  at: number;
}

/** Limits the requests of each token. Pure but for its own buckets, of which there are as many as tokens. */
export class RateLimit {
  readonly #perMinute: number;
  readonly #buckets = new Map<string, Bucket>();

  /** `perMinute` requests a minute; as many may come at once. */
  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** Takes a request. Returns undefined, or the milliseconds to wait for the next one. */
  take(key: string, now: number): number | undefined {
    const bucket = this.#buckets.get(key) ?? { left: this.#perMinute, at: now };
    this.#buckets.set(key, bucket);
    bucket.left = Math.min(this.#perMinute, bucket.left + ((now - bucket.at) * this.#perMinute) / MINUTE_MS);
    bucket.at = now;
    if (bucket.left < 1) return Math.ceil(((1 - bucket.left) * MINUTE_MS) / this.#perMinute);
    bucket.left -= 1;
    return undefined;
  }
}
