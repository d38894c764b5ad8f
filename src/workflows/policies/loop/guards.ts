import type { JsonValue } from '../../../contracts/schemas/message.js';
import type { Guard } from './guard.js';
import { loopGuard } from './loop-guard.js';
import { readingGuard } from './reading-nudge.js';

/**
 * The guards over a run's tool calls. Of objections of one kind the first guard's counts. A guard is given only states that it made
 * itself, so the list need not know their types.
 */
export const GUARDS: readonly Guard<JsonValue>[] = [loopGuard, readingGuard];
