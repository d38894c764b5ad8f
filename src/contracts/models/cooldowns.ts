import { FAILOVER_LIMITS } from '../constants/limits.js';
import type { FailureType } from '../failures.js';
import type { Cooldown } from '../schemas/model-route.js';

/** A model and the reference of its key. The reference is absent for a provider with one key. */
export interface CoolingPair {
  readonly model: string;
  readonly credential?: string | undefined;
}

/** A failed call of a model with a key. */
export interface PairFailure extends CoolingPair {
  readonly type: string;
  /** Retry-After of the server, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** Remaining cooldown of another run that reported the failure, in milliseconds. */
  readonly sharedMs?: number | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Cooldowns of models and keys. Each run has a table; each worker has one that its runs share. */
export class CooldownTable {
  readonly #cooldowns: Map<string, Cooldown>;

  constructor(cooldowns: readonly Cooldown[] = []) {
    this.#cooldowns = new Map(cooldowns.map((cooldown) => [cooldown.key, cooldown]));
  }

  /** Starts a cooldown of the model with that key, or of the key; it grows with failures in a row. Undefined for failures of a request. */
  cool({ model, credential, type, retryAfterMs, sharedMs, now }: PairFailure): Cooldown | undefined {
    if (failureScope(type) === 'none') return undefined;
    this.#forgetOld(now);
    const key = cooldownKey(type, model, credential);
    const before = this.#cooldowns.get(key);
    const failures = (before?.failures ?? 0) + (sharedMs === undefined ? 1 : 0);
    // a cooldown never becomes shorter
    const until = Math.max(before?.until ?? 0, now + (sharedMs ?? cooldownMs(type, failures, retryAfterMs)));
    const cooldown = { key, until, failures, why: type };
    this.#cooldowns.set(key, cooldown);
    return cooldown;
  }

  /** The longest cooldown of a pair; undefined when it may be asked. */
  of({ model, credential }: CoolingPair, now: number): Cooldown | undefined {
    return [modelKey(model, credential), credentialKey(model, credential)]
      .flatMap((key) => this.#cooldowns.get(key) ?? [])
      .filter(({ until }) => until > now)
      .toSorted((a, b) => b.until - a.until)[0];
  }

  /** Ends the cooldowns of a pair that answered. */
  answered({ model, credential }: CoolingPair): void {
    this.#cooldowns.delete(modelKey(model, credential));
    this.#cooldowns.delete(credentialKey(model, credential));
  }

  /** Ends all cooldowns of a failure type. */
  forget(type: string): void {
    for (const { key, why } of this.#cooldowns.values()) {
      if (why === type) this.#cooldowns.delete(key);
    }
  }

  /** The cooldowns, for continue-as-new. */
  carry(): Cooldown[] {
    return [...this.#cooldowns.values()];
  }

  /** Removes cooldowns that ended over a day ago, because a worker runs for months. */
  #forgetOld(now: number): void {
    for (const { key, until } of this.#cooldowns.values()) {
      if (until + FAILOVER_LIMITS.cooldownMsMax < now) this.#cooldowns.delete(key);
    }
  }
}

/** Scope of a cooldown: one model with one key, a key with all models, or no cooldown. */
export type FailureScope = 'model' | 'credential' | 'none';

/** Scope of the cooldown that a failure starts: a model (rate limits, timeouts, unknown models) or a key (refused or unpaid). */
export function failureScope(type: string): FailureScope {
  return SCOPES[type as FailureType] ?? 'none';
}

const SCOPES: Partial<Readonly<Record<FailureType, FailureScope>>> = {
  'Model.RateLimited': 'model',
  'Model.Overloaded': 'model',
  'Model.Timeout': 'model',
  'Model.StreamTruncated': 'model',
  'Model.StreamIdle': 'model',
  'Model.EmptyStream': 'model',
  'Model.BadResponse': 'model',
  'Model.Unreachable': 'model',
  'Model.NotFound': 'model',
  'Model.Auth': 'credential',
  'Model.Quota': 'credential',
};

/** True for failures that only a person can fix: a refused key, a spent account, a model or provider that is gone. */
export function needsPerson(type: string): boolean {
  return failureScope(type) === 'credential' || type === 'Model.NotFound';
}

/** Cooldown after a number of failures in a row. A longer Retry-After of the server is used, up to a day. */
function cooldownMs(type: string, failures: number, retryAfterMs = 0): number {
  const steps = stepsOf(type);
  const step = steps[Math.min(Math.max(failures, 1), steps.length) - 1] ?? 0;
  return Math.min(FAILOVER_LIMITS.cooldownMsMax, Math.max(step, retryAfterMs));
}

function stepsOf(type: string): readonly number[] {
  if (type === 'Model.Quota') return FAILOVER_LIMITS.quotaCooldownsMs;
  return needsPerson(type) ? FAILOVER_LIMITS.lastingCooldownsMs : FAILOVER_LIMITS.cooldownsMs;
}

/** Key of the cooldown that a failure starts. */
function cooldownKey(type: string, model: string, credential = ''): string {
  return failureScope(type) === 'credential' ? credentialKey(model, credential) : modelKey(model, credential);
}

/** Key of a cooldown of one model with one key. */
export function modelKey(model: string, credential = ''): string {
  return `${model}\n${credential}`;
}

/** Key of a cooldown of one key with all models of a provider. */
function credentialKey(model: string, credential = ''): string {
  return `${model.slice(0, model.indexOf('/'))}\n${credential}`;
}
