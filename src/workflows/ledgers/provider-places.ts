import { PROVIDER_LIMITS } from '../../contracts/constants/limits.js';
import type { PlacesRequest, PlacesWorker, ProviderLedgerState, ProviderStatus } from '../../contracts/schemas/ledger.js';

/** Parts of a minute for which starts are counted together: fewer make the state smaller, and a limit a little stricter. */
const PARTS = 60;

/**
 * The places of one provider. Workers that wait are served in turn, one call each. A worker that is silent for the time of its lease loses its
 * places; one that returns has as many as it has running calls. No method waits; all times are in milliseconds since 1970.
 */
export class ProviderPlaces {
  readonly #workers: Map<string, PlacesWorker>;
  readonly #starts: Map<number, number>;
  #state: Omit<ProviderLedgerState, 'workers' | 'starts'>;

  constructor({ workers, starts, ...state }: ProviderLedgerState) {
    this.#state = state;
    this.#workers = new Map(workers.map((each) => [each.worker, each]));
    this.#starts = new Map(starts);
  }

  static empty(provider: string): ProviderPlaces {
    return new ProviderPlaces({ v: 1, provider, limits: {}, bounds: {}, workers: [], starts: [], queued: 0 });
  }

  get bounds(): ProviderLedgerState['bounds'] {
    return this.#state.bounds;
  }

  /** Takes the counters of a worker. A worker without calls is forgotten. */
  take({ worker, wanted, granted, finished, limits, bounds }: PlacesRequest, now: number): void {
    this.#state = { ...this.#state, limits, bounds: bounds ?? this.#state.bounds };
    const known = this.#workers.get(worker) ?? { worker, wanted: 0, granted: 0, finished: 0, queued: 0, untilMs: 0 };
    const next = {
      ...known,
      wanted: Math.max(wanted, known.wanted),
      granted: Math.max(granted, known.granted),
      finished: Math.max(finished, known.finished),
      untilMs: now + (this.#state.bounds.leaseMs ?? PROVIDER_LIMITS.leaseMs),
    };
    if (next.finished >= next.granted && next.granted >= next.wanted) this.#workers.delete(worker);
    else this.#workers.set(worker, this.#queue(next, known));
  }

  /** Gives away what is free. */
  advance(now: number): void {
    for (const { worker, untilMs } of this.#workers.values()) if (untilMs <= now) this.#workers.delete(worker);
    this.#forgetStarts(now);
    for (let next = this.#next(); next && this.#hasRoom(); next = this.#next()) {
      this.#workers.set(next.worker, this.#queue({ ...next, granted: next.granted + 1 }, next));
      this.#countStart(now);
    }
  }

  /** The places that a worker was given; 0 for one that is not known any more. */
  grantedTo(worker: string): number {
    return this.#workers.get(worker)?.granted ?? 0;
  }

  /** True while a worker waits for a place. */
  isWaiting(worker: string): boolean {
    const found = this.#workers.get(worker);
    return found !== undefined && found.wanted > found.granted;
  }

  /** When something changes without a message: a lease ends, or a start is older than a minute. Undefined when nothing does. */
  nextMs(): number | undefined {
    const leases = [...this.#workers.values()].map(({ untilMs }) => untilMs);
    const oldest = Math.min(...this.#starts.keys());
    const times = this.#starts.size === 0 ? leases : [...leases, this.#endOf(oldest)];
    return times.length === 0 ? undefined : Math.min(...times);
  }

  status(now: number): ProviderStatus {
    const workers = [...this.#workers.values()];
    const recent = [...this.#starts].filter(([part]) => this.#endOf(part) > now);
    return {
      provider: this.#state.provider,
      limits: this.#state.limits,
      callsAtOnce: this.#held,
      callsInMinute: recent.reduce((sum, [, calls]) => sum + calls, 0),
      waiting: workers.reduce((sum, { wanted, granted }) => sum + wanted - granted, 0),
      workers: workers.length,
    };
  }

  carry(): ProviderLedgerState {
    return { ...this.#state, workers: [...this.#workers.values()], starts: [...this.#starts] };
  }

  get #partMs(): number {
    return (this.#state.bounds.windowMs ?? PROVIDER_LIMITS.windowMs) / PARTS;
  }

  get #held(): number {
    return [...this.#workers.values()].reduce((sum, { granted, finished }) => sum + granted - finished, 0);
  }

  /** A worker that begins to wait goes to the end of the queue, and one that got a place too. */
  #queue(next: PlacesWorker, before: PlacesWorker): PlacesWorker {
    const stays = before.wanted > before.granted && next.granted === before.granted;
    if (next.wanted <= next.granted || stays) return next;
    this.#state = { ...this.#state, queued: this.#state.queued + 1 };
    return { ...next, queued: this.#state.queued };
  }

  #next(): PlacesWorker | undefined {
    const waiting = [...this.#workers.values()].filter(({ wanted, granted }) => wanted > granted);
    return waiting.toSorted((a, b) => a.queued - b.queued)[0];
  }

  #hasRoom(): boolean {
    const { callsAtOnce = Infinity, callsPerMinute = Infinity } = this.#state.limits;
    const started = [...this.#starts.values()].reduce((sum, calls) => sum + calls, 0);
    return this.#held < callsAtOnce && started < callsPerMinute;
  }

  /** Without a limit of starts there is nothing to remember. */
  #countStart(now: number): void {
    if (this.#state.limits.callsPerMinute === undefined) return;
    const part = Math.floor(now / this.#partMs);
    this.#starts.set(part, (this.#starts.get(part) ?? 0) + 1);
  }

  #forgetStarts(now: number): void {
    for (const part of this.#starts.keys()) if (this.#endOf(part) <= now) this.#starts.delete(part);
  }

  /** When the last start of a part is older than a minute. */
  #endOf(part: number): number {
    return (part + 1 + PARTS) * this.#partMs;
  }
}
