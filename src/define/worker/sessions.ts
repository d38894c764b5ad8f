import { z } from 'zod';
import { SESSION_LIMITS } from '../../contracts/constants/limits.js';
import { QueueOptions } from '../../contracts/schemas/session.js';

/** Options of the queues of sessions that set none themselves. */
export const SessionsDefinition = QueueOptions.extend({
  /** Options by the name of the channel that messages come from. They override those of all sessions. @default none */
  channels: z.record(z.string().max(SESSION_LIMITS.channelCharsMax), QueueOptions).optional(),
});
export type SessionsDefinition = z.infer<typeof SessionsDefinition>;
