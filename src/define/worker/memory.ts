import { z } from 'zod';
import { INPUT_LIMITS, MEMORY_LIMITS } from '../../contracts/constants/limits.js';

const LastTurns = z.number().int().min(0).max(MEMORY_LIMITS.lastTurnsMax);

/** The memory of agents: notes that outlast runs, in Markdown files that people can read and change. */
export const MemoryDefinition = z.strictObject({
  /**
   * `workspace`: the folder `memory` of the run's workspace. Runs without a workspace have no memory. `user`: a folder of the worker's user,
   * which all runs on its host share. @default workspace
   */
  scope: z.enum(['workspace', 'user']).optional(),
  /** The folder of scope `user`, an absolute path. @default `$XDG_DATA_HOME/perdure/memory`, else `~/.local/share/perdure/memory` */
  folder: z.string().regex(/^\/./u, 'is no absolute path').optional(),
  /**
   * How many turns of earlier runs of the same agent, channel, workspace and tenant a run begins with: the task and the answer of each.
   * Sub-agents, continued runs and runs of sessions have none. @default 0: each run starts fresh
   */
  lastTurns: LastTurns.optional(),
  /** Overrides `lastTurns` by the name of a channel (`context.channel`, without a suffix `:thread:ID`). @default none */
  channels: z.record(z.string().max(INPUT_LIMITS.nameCharsMax), z.strictObject({ lastTurns: LastTurns })).optional(),
});
export type MemoryDefinition = z.infer<typeof MemoryDefinition>;
