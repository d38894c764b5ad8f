import { z } from 'zod';
import type { PreparedRun } from './prepared-run.js';

/** An agent that continues the conversation from the next turn on. */
export interface NextAgent {
  /** The call that handed the conversation over. */
  readonly callId: string;
  readonly prepared: PreparedRun;
}

/** What a run carries of its handoffs over continue-as-new. */
export const CarriedHandoffs = z.strictObject({
  /** The agents that worked on the run, in order. */
  agents: z.array(z.string()),
  /** Prepared by a call of an unfinished turn. */
  next: z.custom<NextAgent>((value) => typeof value === 'object' && value !== null && 'prepared' in value).optional(),
});
export type CarriedHandoffs = z.infer<typeof CarriedHandoffs>;
