import type { JsonValue } from '../../../contracts/schemas/message.js';
import { argumentsGuard } from './arguments-guard.js';
import type { Guard } from './guard.js';
import { loopGuard } from './loop-guard.js';
import { readingGuard } from './reading-nudge.js';

/**
 * The guards over a run's tool calls. Among objections of the same kind the first guard's is used. A guard gets only states that it made
 * itself, so the list does not need their types.
 */
export const GUARDS: readonly Guard<JsonValue>[] = [loopGuard, argumentsGuard, readingGuard];
