import { AsyncLocalStorage } from 'node:async_hooks';
import type { GuardedFetch } from '../../providers/http/guarded-fetch.js';

const guards = new AsyncLocalStorage<GuardedFetch>();

/** Makes a call whose requests go through its guard, by a client that was made with `fetchOfCall`. */
export function guardedCall<Result>(guard: GuardedFetch, call: () => Result): Result {
  return guards.run(guard, call);
}

/** The fetch for clients that are made once and serve many calls: each request finds the guard of its own call. */
export const fetchOfCall: typeof fetch = (input, init) => (guards.getStore()?.fetch ?? fetch)(input, init);
