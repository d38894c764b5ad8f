import { FAILOVER_LIMITS } from './constants/limits.js';
import type { FailureType } from './failures.js';

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
export function cooldownMs(type: string, failures: number, retryAfterMs = 0): number {
  const steps = stepsOf(type);
  const step = steps[Math.min(Math.max(failures, 1), steps.length) - 1] ?? 0;
  return Math.min(FAILOVER_LIMITS.cooldownMsMax, Math.max(step, retryAfterMs));
}

function stepsOf(type: string): readonly number[] {
  if (type === 'Model.Quota') return FAILOVER_LIMITS.quotaCooldownsMs;
  return needsPerson(type) ? FAILOVER_LIMITS.lastingCooldownsMs : FAILOVER_LIMITS.cooldownsMs;
}

/** The name of what is left alone. */
export function cooldownKey(type: string, model: string, credential = ''): string {
  return failureScope(type) === 'credential' ? credentialKey(model, credential) : modelKey(model, credential);
}

/** Names one model with one key. */
export function modelKey(model: string, credential = ''): string {
  return `${model}\n${credential}`;
}

/** Names one key of a provider, whatever the model. */
export function credentialKey(model: string, credential = ''): string {
  return `${model.slice(0, model.indexOf('/'))}\n${credential}`;
}
