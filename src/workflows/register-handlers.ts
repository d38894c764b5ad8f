import { registerQueries } from './register-queries.js';
import { registerSignals } from './register-signals.js';
import { registerUpdates } from './register-updates.js';
import type { RunDesk } from './run-desk.js';

/** Sets every signal, update and query. Called before the first await; no handler awaits, all only write inbox and decision tables. */
export function registerHandlers(desk: RunDesk): void {
  registerSignals(desk);
  registerUpdates(desk);
  registerQueries(desk);
}
