import { z } from 'zod';

/** The levels of thinking, least first. `minimal` and more are a model's to read; what it does not have is refused or mapped. */
export const ThinkingLevel = z.enum(['off', 'minimal', 'low', 'medium', 'high']);
export type ThinkingLevel = z.infer<typeof ThinkingLevel>;

/** How much a model is to think before it answers: a level, or tokens. */
export const ThinkingSetting = z.union([ThinkingLevel, z.number().int().min(1)]);
export type ThinkingSetting = z.infer<typeof ThinkingSetting>;

/** What watchers see of thinking: nothing, a stream of its own, or text between tags within the answer's stream. The transcript keeps it. */
export const ThinkingOutput = z.enum(['suppressed', 'apart', 'included']);
export type ThinkingOutput = z.infer<typeof ThinkingOutput>;
