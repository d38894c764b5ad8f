import { applyPatch, reversePatch, type StructuredPatch } from 'diff';
import { type Jail, locate } from '../workspace/jail.js';
import { readText } from '../workspace/read-lines.js';
import { shown, WorkspaceError } from '../workspace/workspace-error.js';
import type { FilePatch } from './read-patch.js';

/** A file before and after a patch. Undefined: there is none. */
export interface Change {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** True if the file had this change before the patch. */
  readonly done: boolean;
}

/** Whether a file is as before or as after a patch; `both` if the patch fits it in both directions, `neither` if in none. */
export type FileState = 'before' | 'after' | 'both' | 'neither';

/**
 * The changes of a patch, computed in memory. A file that has its change already is left as it is: a crash may have come between two
 * files. Throws WorkspaceError `PATCH_FAILED` with every file that does not fit.
 */
export async function planChanges(jail: Jail, files: readonly FilePatch[]): Promise<Change[]> {
  const changes = new Map<string, Change>();
  const problems: string[] = [];
  for (const file of files) {
    const key = locate(jail, file.path);
    const earlier = changes.get(key);
    const before = earlier ? earlier.after : await readIfThere(jail, file.path);
    const state = stateOf(file, before);
    if (state === 'neither') problems.push(problemOf(file, before));
    const done = state === 'after';
    const after = done ? before : patched(file, before);
    changes.set(key, { path: file.path, before: earlier ? earlier.before : before, after, done: done && (earlier?.done ?? true) });
  }
  if (problems.length === 0) return [...changes.values()];
  throw new WorkspaceError('PATCH_FAILED', `${problems.slice(0, PROBLEMS_MAX).join('; ')}. Nothing was changed`);
}

/** Problems that a message names: the model corrects them together. */
const PROBLEMS_MAX = 10;

/** The states of the files of a patch. */
export async function fileStates(jail: Jail, files: readonly FilePatch[]): Promise<FileState[]> {
  return await Promise.all(files.map(async (file) => stateOf(file, await readIfThere(jail, file.path))));
}

function stateOf({ kind, patch }: FilePatch, text: string | undefined): FileState {
  if (kind === 'delete' && text === undefined) return 'after';
  if (kind === 'create' && text === undefined) return 'before';
  if (text === undefined) return 'neither';
  // the text of a new file is the whole file
  if (kind === 'create') return applyPatch('', patch) === text ? 'after' : 'neither';
  const fits = applyPatch(text, patch) !== false;
  if (kind === 'delete') return fits ? 'before' : 'neither';
  const isDone = applyPatch(text, reversePatch(patch)) !== false;
  if (fits && isDone) return 'both';
  if (fits) return 'before';
  return isDone ? 'after' : 'neither';
}

function patched({ kind, patch }: FilePatch, text: string | undefined): string | undefined {
  if (kind === 'delete') return undefined;
  const after = applyPatch(text ?? '', patch);
  return after === false ? text : after;
}

function problemOf({ path, kind, patch }: FilePatch, text: string | undefined): string {
  if (text === undefined) return `${shown(path)} does not exist`;
  if (kind === 'create') return `${shown(path)} exists already, with another text`;
  const at = patch.hunks.findIndex((hunk) => applyPatch(text, { ...patch, hunks: [hunk] } satisfies StructuredPatch) === false);
  if (at === -1) return `the places of ${shown(path)} overlap or are not in the order of the file`;
  const missing = firstMissing(patch.hunks[at]?.lines ?? [], text);
  const why = missing === undefined ? 'its lines do not stand together in the file' : `the file has no line ${shown(missing)}`;
  return `place ${at + 1} of ${patch.hunks.length} does not fit ${shown(path)}: ${why}; read the file again`;
}

/** The first line that the place expects and the file does not have. */
function firstMissing(lines: readonly string[], text: string): string | undefined {
  const present = new Set(text.split(/\r?\n/u));
  return lines.find((line) => /^[ -]/u.test(line) && !present.has(line.slice(1)))?.slice(1);
}

async function readIfThere(jail: Jail, path: string): Promise<string | undefined> {
  try {
    return await readText(jail, path);
  } catch (error) {
    if (error instanceof WorkspaceError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}
