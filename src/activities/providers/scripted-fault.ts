import { setTimeout as sleep } from 'node:timers/promises';
import { ModelError, type ModelFailureType } from './model-error.js';
import type { ModelRequest } from './provider.js';
import type { EventKind, ScriptFault } from './script-fault.js';

/** How far an answer streams before its fault comes: not at all, to the first event of a kind, or a number of bytes. */
export type FaultPoint =
  | { readonly kind: 'at-once' }
  | { readonly kind: 'event'; readonly event: EventKind }
  | { readonly kind: 'bytes'; readonly bytes: number };

/** Where in the stream a fault comes. */
export function faultPoint(fault: ScriptFault): FaultPoint {
  if ('cutAfterBytes' in fault) return { kind: 'bytes', bytes: fault.cutAfterBytes };
  if ('cutAfterEvent' in fault) return { kind: 'event', event: fault.cutAfterEvent };
  if ('streamError' in fault) return { kind: 'event', event: fault.afterEvent };
  if ('stall' in fault && fault.afterEvent) return { kind: 'event', event: fault.afterEvent };
  return { kind: 'at-once' };
}

/** The error a provider over the wire gives for such a fault. A stall comes first to the end of the idle time, or of the signal's patience. */
export async function throwFault(fault: ScriptFault, request: ModelRequest): Promise<never> {
  if ('stall' in fault) return await stall(fault.pingEveryMs !== undefined, request);
  if ('status' in fault) {
    const { status, code } = fault;
    const message = fault.message ?? `${status} from the script`;
    throw new ModelError(statusFailure(status, code), message, { status, ...retryAfter(fault.retryAfter) });
  }
  if ('streamError' in fault) throw new ModelError(errorTypeFailure(fault.streamError), `${fault.streamError}: ${fault.message}`);
  if ('html' in fault) throw new ModelError('Model.BadResponse', 'the model answered with a web page');
  if ('redirect' in fault) throw new ModelError('Model.BadResponse', `the model redirects to ${fault.redirect}; redirects are refused`);
  throw new ModelError('Model.StreamTruncated', "the model's answer was cut");
}

async function stall(pings: boolean, { signal, idleMs }: ModelRequest): Promise<never> {
  await abortableSleep(pings ? 24 * 60 * 60 * 1_000 : idleMs, signal);
  throw new ModelError('Model.StreamIdle', `the model sent nothing for ${idleMs} ms`);
}

/** Waits; rejects with the signal's own reason as soon as it is aborted. */
export async function abortableSleep(delayMs: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(delayMs, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

function statusFailure(status: number, code: string | undefined): ModelFailureType {
  if (code === 'context_length_exceeded' || status === 413) return 'Model.ContextOverflow';
  if (code === 'insufficient_quota' || status === 402) return 'Model.Quota';
  if (status === 401 || status === 403) return 'Model.Auth';
  if (status === 408) return 'Model.Timeout';
  if (status === 429) return 'Model.RateLimited';
  return status >= 500 ? 'Model.Overloaded' : 'Model.BadRequest';
}

function errorTypeFailure(type: string): ModelFailureType {
  if (type === 'rate_limit_error' || type === 'rate_limit_exceeded') return 'Model.RateLimited';
  if (type === 'invalid_request_error') return 'Model.BadRequest';
  return type === 'context_length_exceeded' ? 'Model.ContextOverflow' : 'Model.Overloaded';
}

function retryAfter(value: number | string | undefined): { readonly retryAfterMs?: number } {
  if (value === undefined) return {};
  const seconds = Number(value);
  return { retryAfterMs: Number.isNaN(seconds) ? Math.max(0, Date.parse(String(value)) - Date.now()) : seconds * 1_000 };
}
