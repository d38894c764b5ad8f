import { z } from 'zod';
import { THINKING_LEVELS } from './constants/thinking-levels.js';

/** A level of thinking. What each means is a model's affair; one that it does not have is refused or mapped to a near one. */
export const ThinkingLevel = z.enum(THINKING_LEVELS);
export type ThinkingLevel = z.infer<typeof ThinkingLevel>;

/** How much a model is to think before it answers: a level, or tokens. */
export const ThinkingSetting = z.union([ThinkingLevel, z.number().int().min(1)]);
export type ThinkingSetting = z.infer<typeof ThinkingSetting>;

/** What watchers see of thinking: nothing, a stream of its own, or text between tags within the answer's stream. The transcript keeps it. */
export const ThinkingOutput = z.enum(['suppressed', 'apart', 'included']);
export type ThinkingOutput = z.infer<typeof ThinkingOutput>;
