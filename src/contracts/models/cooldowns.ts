import { FAILOVER_LIMITS } from '../constants/limits.js';
import type { FailureType } from '../failures.js';
import type { Cooldown } from '../schemas/model-route.js';

/** A model, and the reference of the key it is asked with, where there are several. */
export interface CoolingPair {
  readonly model: string;
  readonly credential?: string | undefined;
}

/** What a failed question said of the pair that was asked. */
export interface PairFailure extends CoolingPair {
  readonly type: string;
  /** What the server asked for. */
  readonly retryAfterMs?: number | undefined;
  /** Another run found this out, and leaves it alone for so much longer. */
  readonly sharedMs?: number | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Models and keys that are left alone for a while. A run has one, and so has each worker for what its runs find out. */
export class CooldownTable {
  readonly #cooldowns: Map<string, Cooldown>;

  constructor(cooldowns: readonly Cooldown[] = []) {
    this.#cooldowns = new Map(cooldowns.map((cooldown) => [cooldown.key, cooldown]));
  }

  /** Leaves alone what failed: the model with that key, or the key; longer with each failure in a row. Undefined for failures of a request itself. */
  cool({ model, credential, type, retryAfterMs, sharedMs, now }: PairFailure): Cooldown | undefined {
    if (failureScope(type) === 'none') return undefined;
    this.#forgetOld(now);
    const key = cooldownKey(type, model, credential);
    const before = this.#cooldowns.get(key);
    const failures = (before?.failures ?? 0) + (sharedMs === undefined ? 1 : 0);
    // what is left alone for longer already stays so
    const until = Math.max(before?.until ?? 0, now + (sharedMs ?? cooldownMs(type, failures, retryAfterMs)));
    const cooldown = { key, until, failures, why: type };
    this.#cooldowns.set(key, cooldown);
    return cooldown;
  }

  /** What keeps a pair away the longest; undefined when it may be asked. */
  of({ model, credential }: CoolingPair, now: number): Cooldown | undefined {
    return [modelKey(model, credential), credentialKey(model, credential)]
      .flatMap((key) => this.#cooldowns.get(key) ?? [])
      .filter(({ until }) => until > now)
      .toSorted((a, b) => b.until - a.until)[0];
  }

  /** A pair that answered is no longer counted as failing. */
  answered({ model, credential }: CoolingPair): void {
    this.#cooldowns.delete(modelKey(model, credential));
    this.#cooldowns.delete(credentialKey(model, credential));
  }

  /** Nobody is left alone any longer because of such failures. */
  forget(type: string): void {
    for (const { key, why } of this.#cooldowns.values()) {
      if (why === type) this.#cooldowns.delete(key);
    }
  }

  /** What continue-as-new takes along. */
  carry(): Cooldown[] {
    return [...this.#cooldowns.values()];
  }

  /** A worker lives for months: what was over a day ago says nothing any more, and nobody may ever ask that model again. */
  #forgetOld(now: number): void {
    for (const { key, until } of this.#cooldowns.values()) {
      if (until + FAILOVER_LIMITS.cooldownMsMax < now) this.#cooldowns.delete(key);
    }
  }
}

/** What a failure says about where it came from: one model with one key, the key itself, the server, or nothing to leave alone. */
export type FailureScope = 'model' | 'credential' | 'none';

/** Whose cooldown a failure begins. Rate limits, timeouts and models that are no more are a model's; refused and unpaid keys are the key's. */
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

/** Nothing but a person ends it: a key is renewed, an account filled up, a model or a provider brought back. */
export function needsPerson(type: string): boolean {
  return failureScope(type) === 'credential' || type === 'Model.NotFound';
}

/** How long to leave it alone after so many failures in a row; a server that names a longer time is believed, up to a day. */
function cooldownMs(type: string, failures: number, retryAfterMs = 0): number {
  const steps = stepsOf(type);
  const step = steps[Math.min(Math.max(failures, 1), steps.length) - 1] ?? 0;
  return Math.min(FAILOVER_LIMITS.cooldownMsMax, Math.max(step, retryAfterMs));
}

function stepsOf(type: string): readonly number[] {
  if (type === 'Model.Quota') return FAILOVER_LIMITS.quotaCooldownsMs;
  return needsPerson(type) ? FAILOVER_LIMITS.lastingCooldownsMs : FAILOVER_LIMITS.cooldownsMs;
}

/** The name of what is left alone. */
function cooldownKey(type: string, model: string, credential = ''): string {
  return failureScope(type) === 'credential' ? credentialKey(model, credential) : modelKey(model, credential);
}

/** Names one model with one key. */
export function modelKey(model: string, credential = ''): string {
  return `${model}\n${credential}`;
}

/** Names one key of a provider, whatever the model. */
function credentialKey(model: string, credential = ''): string {
  return `${model.slice(0, model.indexOf('/'))}\n${credential}`;
}
