import { z } from 'zod';

/**
 * What a run has done so far, as the looks at its end ask for it. It stands beside the transcript, which compaction makes shorter: what
 * was left out there was done all the same. Texts are cut; no list is longer than WORK_LIMITS say.
 */
export const WorkRecord = z.strictObject({
  /** Answered calls. A run without any only talked. */
  calls: z.number().int().default(0),
  /** Steps that the last successful call of the plan tool leaves open, each with its status. */
  openSteps: z.array(z.string()).default([]),
  /** Files that were edited, and nothing was read, searched or run since. */
  unverified: z.array(z.string()).default([]),
  /** Required phases that are done, by their positions in the policy. */
  phases: z.array(z.number().int()).default([]),
  versionControlFailed: z.boolean().default(false),
  /** The newest turns, in all of which every call only read; `reads` are those of files among them, each part of a file once. */
  reading: z
    .strictObject({
      turns: z.number().int().default(0),
      reads: z.array(z.strictObject({ signature: z.string(), file: z.string(), times: z.number().int() })).default([]),
    })
    .prefault({}),
  /** What the model is told once in a run, and was. `readingTurns`: the most turns of reading that it was told about. */
  told: z
    .strictObject({
      verify: z.boolean().default(false),
      readingTurns: z.number().int().default(0),
      sameRead: z.boolean().default(false),
    })
    .prefault({}),
});
export type WorkRecord = z.infer<typeof WorkRecord>;
