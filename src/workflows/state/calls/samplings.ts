import type { SamplingBounds, SamplingEnd, SamplingRequest, SamplingState } from '../../../contracts/schemas/sampling.js';

interface Entry {
  readonly call: string;
  readonly request: SamplingRequest;
  ended?: SamplingEnd;
}

/**
 * The completions that the calls at work request. Handlers add requests, and the calls answer them. Nothing here awaits. Nothing is carried:
 * no run continues as new while such a call is at work.
 */
export class Samplings {
  /** The calls at work that may request completions. */
  readonly #bounds = new Map<string, SamplingBounds>();
  readonly #entries = new Map<string, Entry>();

  /** Lets a call request completions, until `stopListening`. */
  listenTo(call: string, bounds: SamplingBounds): void {
    this.#bounds.set(call, bounds);
  }

  /** Drops all requests of a call that has its result. */
  stopListening(call: string): void {
    this.#bounds.delete(call);
    for (const { request } of this.#of(call)) this.#entries.delete(request.id);
  }

  /** Adds a request of a call at work. Another one of the same id, and those beyond the limits of the call, are dropped. */
  take(call: string, request: SamplingRequest): void {
    const bounds = this.#bounds.get(call);
    if (!bounds || this.#entries.has(request.id) || this.#of(call).length >= bounds.requestsMax) return;
    this.#entries.set(request.id, { call, request: { ...request, tokensMax: Math.min(request.tokensMax, bounds.tokensMax) } });
  }

  /** The oldest request of a call without an end. */
  next(call: string): SamplingRequest | undefined {
    return this.#of(call).find(({ ended }) => !ended)?.request;
  }

  /** True for a request of this call that has no end yet. */
  isOpen(call: string, id: string): boolean {
    const entry = this.#entries.get(id);
    return entry?.call === call && !entry.ended;
  }

  /** Ends a request. The first end counts. */
  end(id: string, end: SamplingEnd): void {
    const entry = this.#entries.get(id);
    if (entry) entry.ended ??= end;
  }

  stateOf(id: string): SamplingState {
    const entry = this.#entries.get(id);
    return { isPending: entry !== undefined && !entry.ended, ...(entry?.ended ? { ended: entry.ended } : {}) };
  }

  #of(call: string): readonly Entry[] {
    return [...this.#entries.values()].filter((entry) => entry.call === call);
  }
}
