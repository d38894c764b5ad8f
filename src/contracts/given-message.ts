import { z } from 'zod';
import { Message, TextPart } from './schemas/message.js';

/** A system message of another system's transcript. What it says goes into the run's prompt: our transcripts have none. */
export const SystemMessage = z.strictObject({ id: z.string().optional(), role: z.literal('system'), parts: z.array(TextPart) });
export type SystemMessage = z.infer<typeof SystemMessage>;

/** One message of a transcript that a run is given to begin with. */
export const GivenMessage = z.discriminatedUnion('role', [Message, SystemMessage]);
export type GivenMessage = z.infer<typeof GivenMessage>;
