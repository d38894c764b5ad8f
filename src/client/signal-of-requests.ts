import { setMaxListeners } from 'node:events';

/**
 * A signal for the requests of one stretch of work, which aborts with the given one. The SDK leaves a listener behind on it for each
 * request: they go with this signal, and many of them are no leak to warn of.
 */
export function signalOfRequests(signal: AbortSignal): AbortSignal {
  const own = AbortSignal.any([signal]);
  setMaxListeners(0, own);
  return own;
}
