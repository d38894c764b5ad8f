import { z } from 'zod';

/** The memory of agents: notes that outlast runs, in Markdown files that people can read and change. */
export const MemoryDefinition = z.strictObject({
  /**
   * `workspace`: the folder `memory` of the run's workspace. Runs without a workspace have no memory. `user`: a folder of the worker's user,
   * which all runs on its host share. @default workspace
   */
  scope: z.enum(['workspace', 'user']).optional(),
  /** The folder of scope `user`, an absolute path. @default `$XDG_DATA_HOME/perdure/memory`, else `~/.local/share/perdure/memory` */
  folder: z.string().regex(/^\/./u, 'is no absolute path').optional(),
});
export type MemoryDefinition = z.infer<typeof MemoryDefinition>;
