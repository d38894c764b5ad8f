/** What a refusal says beside its message, as far as a wire format has a place for it. */
export interface WireRefusalDetails {
  readonly type?: string;
  readonly code?: string;
  readonly param?: string;
  /** Sent as the Retry-After header. */
  readonly retryAfter?: string;
}

/** Thrown within the wire server: this request is answered with an error, in the words of the provider's own API. */
export class WireRefusal extends Error {
  override readonly name = 'WireRefusal';
  readonly status: number;
  readonly details: WireRefusalDetails;

  constructor(status: number, message: string, details: WireRefusalDetails = {}) {
    super(message);
    this.status = status;
    this.details = details;
  }
}
