import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** The errors that the code of one call threw where nothing catches them. */
interface Strays {
  readonly errors: unknown[];
  readonly log: (error: unknown) => void;
}

const calls = new AsyncLocalStorage<Strays>();
let isListening = false;

/** The result of some work, and the first error that it threw where nothing catches it. */
export interface Watched<T> {
  readonly value: T;
  readonly stray?: unknown;
}

/**
 * Runs the code of a tool. A promise of it that is rejected and that nothing awaits, or an error in one of its timers or event handlers,
 * would end the process, and all calls with it. Here it is logged, and told with the result unless it comes later. Errors of other code
 * still end the process, unless the application listens to them.
 *
 * @param log logs an error. It must not throw
 */
export async function withStrayErrors<T>(work: () => Promise<T>, log: (error: unknown) => void): Promise<Watched<T>> {
  listen();
  const errors: unknown[] = [];
  const value = await calls.run({ errors, log }, work);
  // Node reports a rejection after all promises of this turn
  await nextTurn();
  return errors.length === 0 ? { value } : { value, stray: errors[0] };
}

function listen(): void {
  if (isListening) return;
  isListening = true;
  process.on('unhandledRejection', (error) => onStray(error, 'unhandledRejection'));
  process.on('uncaughtException', (error) => onStray(error, 'uncaughtException'));
}

function onStray(error: unknown, event: 'unhandledRejection' | 'uncaughtException'): void {
  const strays = calls.getStore();
  if (strays) {
    strays.errors.push(error);
    strays.log(error);
  } else if (process.listenerCount(event) === 1) {
    // as without a listener: Node prints it and ends the process
    throw error;
  }
}
