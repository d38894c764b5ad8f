import { SESSION_SIGNALS, SESSION_UPDATES } from './session.js';
import { SIGNALS } from './signals.js';
import { UPDATES } from './updates.js';
import type { AnyVerb } from './verb.js';

export { SESSION_SIGNALS, SESSION_UPDATES, SIGNALS, UPDATES };

export type SignalName = keyof typeof SIGNALS;
export type UpdateName = keyof typeof UPDATES;

/** The verbs of a table, for loops that treat all alike. An input that `readVerb` accepted has the type that the verb's entry names. */
export function verbsOf(table: typeof SIGNALS | typeof UPDATES | typeof SESSION_UPDATES): readonly AnyVerb[] {
  // every entry is a verb; which one, the loop does not need to know
  return Object.values(table) as readonly unknown[] as readonly AnyVerb[];
}
