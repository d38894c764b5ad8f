/**
 * Why a request to a platform failed, and what follows:
 * `rate-limited`: nothing happened; it is repeated after `retryAfterMs`. `unavailable`: nothing happened; it is repeated.
 * `uncertain`: it may have happened, such as after a timeout; it is repeated as far as the channel can deduplicate.
 * `unauthorized`: the key was refused; it is repeated each minute. `refused`: it never succeeds, and the message is given up.
 */
export type ChannelErrorKind = 'rate-limited' | 'unavailable' | 'uncertain' | 'unauthorized' | 'refused';

/** Thrown by the methods of a channel. Its message names the platform's error, and no key. */
export class ChannelError extends Error {
  override readonly name = 'ChannelError';
  readonly kind: ChannelErrorKind;
  /** Wait that the platform requests, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: ChannelErrorKind, message: string, options: { readonly retryAfterMs?: number; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The kind of any error of a channel. An unknown one is uncertain. */
export function errorKindOf(error: unknown): ChannelErrorKind {
  return error instanceof ChannelError ? error.kind : 'uncertain';
}
