import { z } from 'zod';
import { PATCH_LIMITS } from '../../contracts/constants/limits.js';
import { defineTool, type ToolContext, type ToolDefinition } from '../../define/define-tool.js';
import { removeFile, writeFileAtomic } from '../workspace/atomic-write.js';
import { type Jail, openJail } from '../workspace/jail.js';
import type { ProtectedPaths } from '../workspace/protected-paths.js';
import { shown } from '../workspace/workspace-error.js';
import { type Change, fileStates, planChanges } from './plan-changes.js';
import { readPatch } from './read-patch.js';

export const APPLY_PATCH = 'apply_patch';

const Parameters = z.strictObject({
  patch: z
    .string()
    .min(1)
    .max(PATCH_LIMITS.patchBytesMax)
    .describe(
      'A unified diff as `git diff` prints it, for one or several files: --- a/PATH, +++ b/PATH, @@ -1,3 +1,4 @@. Use /dev/null as the old path of a new file, and as the new path of a deleted file.',
    ),
});
type Parameters = z.infer<typeof Parameters>;

/**
 * Makes the tool that applies a unified diff. All files are checked before the first is written. After a lost worker, `reconcile` reads
 * the files: a patch of which only some files are written is started again, and writes the others.
 */
export const createApplyPatch = (protectedPaths: ProtectedPaths): ToolDefinition<Parameters> =>
  defineTool({
    name: APPLY_PATCH,
    description:
      'Change, create and delete text files of the workspace with one unified diff. Context lines must match the files. All of it is ' +
      'applied, or nothing. Line numbers may be off.',
    parameters: Parameters,
    effect: 'once',
    network: false,
    execute: async ({ patch }: Parameters, { workspace, signal }: ToolContext) => {
      const jail = await openJail(workspace);
      const changes = await planChanges(jail, readPatch(patch));
      signal.throwIfAborted();
      await writeAll(jail, changes, protectedPaths);
      return doneText(changes);
    },
    reconcile: async ({ patch }: Parameters, { workspace }: ToolContext) => {
      const states = await fileStates(await openJail(workspace), readPatch(patch));
      if (states.every((state) => state === 'after')) return { kind: 'done', result: 'patched all files' };
      return states.every((state) => state === 'before' || state === 'after') ? { kind: 'not_started' } : { kind: 'unknown' };
    },
  });

/** Writes the files one after the other. If one cannot be written, those before it get their former text. */
async function writeAll(jail: Jail, changes: readonly Change[], protectedPaths: ProtectedPaths): Promise<void> {
  const written: Change[] = [];
  try {
    for (const change of changes) {
      if (change.done) continue;
      await setText(jail, change.path, { text: change.after, protectedPaths });
      written.push(change);
    }
  } catch (error) {
    for (const { path, before } of written.toReversed()) await setText(jail, path, { text: before, protectedPaths });
    throw error;
  }
}

async function setText(
  jail: Jail,
  path: string,
  { text, protectedPaths }: { readonly text: string | undefined; readonly protectedPaths: ProtectedPaths },
): Promise<void> {
  if (text === undefined) await removeFile(jail, path, protectedPaths);
  else await writeFileAtomic(jail, path, text, protectedPaths);
}

function doneText(changes: readonly Change[]): string {
  if (changes.every(({ done }) => done)) return 'nothing to do: all files have these changes already';
  const lines = changes.map(({ path, before, after, done }) => {
    if (done) return `${shown(path)} had its change already`;
    if (before === undefined) return `created ${shown(path)}`;
    return after === undefined ? `deleted ${shown(path)}` : `changed ${shown(path)}`;
  });
  return lines.join('\n');
}
