import { setTimeout as sleep } from 'node:timers/promises';
import { MODEL_LIMITS } from '../../contracts/constants/limits.js';
import { ModelError } from '../contract/model-error.js';
import type { ModelRequest } from '../contract/provider.js';
import { toModelError } from '../errors/classify-error.js';
import type { EventKind, WireFault } from './script-fault.js';

/** How far an answer streams before its fault comes: not at all, to the first event of a kind, or a number of bytes. */
export type FaultPoint =
  | { readonly kind: 'at-once' }
  | { readonly kind: 'event'; readonly event: EventKind }
  | { readonly kind: 'bytes'; readonly bytes: number };

/** Where in the stream a fault comes. */
export function faultPoint(fault: WireFault): FaultPoint {
  if ('cutAfterBytes' in fault) return { kind: 'bytes', bytes: fault.cutAfterBytes };
  if ('cutAfterEvent' in fault) return { kind: 'event', event: fault.cutAfterEvent };
  if ('streamError' in fault) return { kind: 'event', event: fault.afterEvent };
  if ('stall' in fault && fault.afterEvent) return { kind: 'event', event: fault.afterEvent };
  return { kind: 'at-once' };
}

/** The error a provider over the wire gives for such a fault. A stall comes first to the end of the idle time, or of the signal's patience. */
export async function throwFault(fault: WireFault, request: ModelRequest): Promise<never> {
  if ('stall' in fault) return await stall(fault.pingEveryMs !== undefined, request);
  if ('status' in fault) throw statusError(fault);
  if ('streamError' in fault) throw toModelError(Object.assign(new Error(fault.message), { type: fault.streamError }));
  if ('html' in fault) throw new ModelError('Model.BadResponse', 'the server returned a web page', { status: 200 });
  if ('redirect' in fault) throw new ModelError('Model.BadRequest', `the server redirects to ${fault.redirect}; redirects are refused`);
  if ('cutAfterBytes' in fault && fault.cutAfterBytes === 0 && fault.by === 'end') {
    throw new ModelError('Model.EmptyStream', 'the response stream is empty');
  }
  throw new ModelError('Model.StreamTruncated', 'the response was cut');
}

/** Classed by the same table as the errors of real providers. */
function statusError({ status, code, message, retryAfter }: Extract<WireFault, { status: number }>): ModelError {
  const headers = new Headers(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) });
  const error = new Error(message ?? `the model answered with status ${status}`);
  return toModelError(Object.assign(error, { status, headers, ...(code === undefined ? {} : { code }) }));
}

async function stall(pings: boolean, { signal, idleMs }: ModelRequest): Promise<never> {
  // pings are bytes: with them only the turn's total time, or the signal, ends the wait
  await abortableSleep(pings ? MODEL_LIMITS.turnTimeoutMs : idleMs, signal);
  throw new ModelError('Model.StreamIdle', `no bytes from the model for ${idleMs} ms`);
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
