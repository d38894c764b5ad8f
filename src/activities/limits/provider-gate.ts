import { randomUUID } from 'node:crypto';
import type { Context } from '@temporalio/activity';
import { PROVIDER_LIMITS } from '../../contracts/constants/limits.js';
import { parseModelRef } from '../../contracts/models/model-ref.js';
import type { PlacesAnswer, PlacesRequest, ProviderBounds, ProviderLimits } from '../../contracts/schemas/ledger.js';

type Client = Context['client'];

/** Where a ledger runs. */
export interface LedgerPlace {
  readonly client: Client;
  readonly taskQueue: string;
}

/** Sends the counters of a worker to the ledger of a provider, which it starts if it does not run. Rejects without an answer in time. */
export type AskLedger = (place: LedgerPlace, request: PlacesRequest) => Promise<PlacesAnswer>;

/** The limits of providers, as the config of a worker has them. */
export interface ProviderRules {
  /** The limits of a provider; undefined without any. */
  readonly limitsOf: (provider: string) => ProviderLimits | undefined;
  readonly ask: AskLedger;
  /** Thresholds that tests lower. */
  readonly bounds?: ProviderBounds;
}

/** How a call waits for its place. */
export interface WaitOptions {
  /** Read only if the provider has limits. */
  readonly at: () => LedgerPlace;
  readonly signal: AbortSignal;
  /** Called with what the call waits for, when there is no place at once. */
  readonly onWait?: (what: string) => void;
}

/** Ends a call: its place is free. */
export type LeavePlace = () => void;

const FREE: LeavePlace = () => undefined;

/** The places of the model calls of one worker, for each provider with limits. */
export class ProviderGates {
  readonly #rules: ProviderRules | undefined;
  readonly #gates = new Map<string, ProviderGate>();

  constructor(rules?: ProviderRules) {
    this.#rules = rules;
  }

  /**
   * Waits for a place at the provider of a model, and returns the function that frees it. A provider without limits costs nothing. Rejects
   * with the signal's reason.
   */
  async enter(model: string, options: WaitOptions): Promise<LeavePlace> {
    const provider = parseModelRef(model)?.provider ?? model;
    const limits = this.#rules?.limitsOf(provider);
    if (!this.#rules || !limits) return FREE;
    const gate = this.#gates.get(provider) ?? new ProviderGate(provider, this.#rules);
    this.#gates.set(provider, gate);
    return await gate.enter(limits, options);
  }
}

/** Places that are asked for in one message, for all calls of the worker. */
class ProviderGate {
  readonly #provider: string;
  readonly #rules: ProviderRules;
  readonly #worker = randomUUID();
  #wanted = 0;
  #granted = 0;
  #started = 0;
  #finished = 0;
  readonly #waiting = new Set<() => void>();
  #place: LedgerPlace | undefined;
  #limits: ProviderLimits = {};
  #sending = 0;
  /** Counters that no message in flight contains. */
  #isDirty = false;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(provider: string, rules: ProviderRules) {
    this.#provider = provider;
    this.#rules = rules;
  }

  async enter(limits: ProviderLimits, { signal, onWait, at }: WaitOptions): Promise<LeavePlace> {
    signal.throwIfAborted();
    this.#place = at();
    this.#limits = limits;
    this.#wanted += 1;
    this.#report();
    // most calls get their place at once: a message to operators would only flicker
    const notice = setTimeout(() => onWait?.(shown(this.#provider, limits)), PROVIDER_LIMITS.noticeMs);
    try {
      await this.#turn(signal);
    } finally {
      clearTimeout(notice);
    }
    return this.#leaver();
  }

  /** Resolves when the call may start. */
  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#waiting.delete(start);
        reject(signal.reason);
      };
      const start = (): void => {
        signal.removeEventListener('abort', stop);
        resolve();
      };
      this.#waiting.add(start);
      signal.addEventListener('abort', stop, { once: true });
    });
  }

  #leaver(): LeavePlace {
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      this.#finished += 1;
      this.#report();
    };
  }

  /** Starts waiting calls. A place for a call that was cancelled meanwhile goes back. */
  #take({ granted }: PlacesAnswer): void {
    this.#granted = Math.max(this.#granted, granted);
    while (this.#started < this.#granted) {
      const [start] = this.#waiting;
      this.#started += 1;
      if (start) {
        this.#waiting.delete(start);
        start();
      } else {
        this.#finished += 1;
        this.#isDirty = true;
      }
    }
  }

  /** Sends the counters soon; changes of the same moment go in one message. */
  #report(): void {
    if (this.#isDirty) return;
    this.#isDirty = true;
    setImmediate(() => void this.#send());
  }

  async #send(): Promise<void> {
    // the second message ends the first one, which the ledger may hold
    if (!this.#place || !this.#isDirty || this.#sending >= 2) return;
    this.#isDirty = false;
    this.#sending += 1;
    let pauseMs = 0;
    try {
      const answer = await this.#rules.ask(this.#place, this.#request());
      this.#failures = 0;
      pauseMs = answer.askAgainMs ?? 0;
      this.#take(answer);
    } catch {
      // the counters are sent again: nothing is lost, and the calls wait until their own limit
      this.#failures += 1;
      this.#isDirty = true;
      pauseMs = Math.min(PROVIDER_LIMITS.retryMsMax, PROVIDER_LIMITS.retryMsMin * 2 ** this.#failures);
    }
    this.#sending -= 1;
    this.#next(pauseMs);
  }

  /** The next message: now for new counters, later to stay known while calls run, never without calls. */
  #next(pauseMs: number): void {
    if (this.#sending === 0 && this.#waiting.size > 0) this.#isDirty = true;
    clearTimeout(this.#timer);
    const isBusy = this.#started > this.#finished || this.#waiting.size > 0;
    // a last report that cannot be sent is not needed: the lease ends by itself
    if (!isBusy && this.#failures > PROVIDER_LIMITS.messagesPerLease) this.#isDirty = false;
    if (!this.#isDirty && !isBusy) return;
    const leaseMs = this.#rules.bounds?.leaseMs ?? PROVIDER_LIMITS.leaseMs;
    const afterMs = this.#isDirty ? pauseMs : leaseMs / PROVIDER_LIMITS.messagesPerLease;
    const again = (): void => {
      this.#isDirty = true;
      void this.#send();
    };
    // a worker that ends need not wait for it
    this.#timer = setTimeout(again, afterMs).unref();
  }

  #request(): PlacesRequest {
    return {
      worker: this.#worker,
      provider: this.#provider,
      wanted: this.#wanted,
      granted: this.#granted,
      finished: this.#finished,
      limits: this.#limits,
      ...(this.#rules.bounds ? { bounds: this.#rules.bounds } : {}),
    };
  }
}

function shown(provider: string, { callsAtOnce, callsPerMinute }: ProviderLimits): string {
  const limits = [
    ...(callsAtOnce === undefined ? [] : [`${callsAtOnce} calls at once`]),
    ...(callsPerMinute === undefined ? [] : [`${callsPerMinute} calls a minute`]),
  ];
  return `waiting for provider ${provider}: ${limits.join(', ')}`;
}
