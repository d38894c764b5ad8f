import { registerQueries } from '../register-queries.js';
import type { RunDesk } from './handler-context.js';
import { registerSignals } from './signals.js';
import { registerUpdates } from './updates.js';

/** Sets every signal, update and query. Called before the first await; no handler awaits, all only write inbox and decision tables. */
export function registerHandlers(desk: RunDesk): void {
  registerSignals(desk);
  registerUpdates(desk);
  registerQueries(desk);
}
