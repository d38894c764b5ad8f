import { z } from 'zod';
import { defineTool, type Reconciled, type ToolContext, type ToolDefinition } from '../define/define-tool.js';
import { writeFileAtomic } from './workspace/atomic-write.js';
import { openJail } from './workspace/jail.js';
import type { ProtectedPaths } from './workspace/protected-paths.js';
import { readText } from './workspace/read-lines.js';
import { shown, WorkspaceError } from './workspace/workspace-error.js';

const Parameters = z
  .strictObject({
    path: z.string().min(1).describe('Path of the file, relative to the workspace.'),
    oldText: z
      .string()
      .min(1)
      .describe('The text to replace, exactly as in the file. It must occur exactly once: include neighbouring lines if needed.'),
    newText: z.string().describe('The replacement text.'),
  })
  .refine(({ oldText, newText }) => oldText !== newText, { message: 'is the same as oldText', path: ['newText'] });
type Parameters = z.infer<typeof Parameters>;

/** Replaces one piece of text in a file. After a lost worker, `reconcile` reads the file to find out whether the edit was made. */
export const createEditFile = (protectedPaths: ProtectedPaths): ToolDefinition<Parameters> =>
  defineTool({
    name: 'edit_file',
    description:
      'Edit a text file of the workspace: replace oldText, which must occur exactly once, with newText. ' +
      'Spaces and line breaks must match. Nothing is changed if oldText is missing or occurs more than once.',
    parameters: Parameters,
    effect: 'once',
    network: false,
    execute: async (args: Parameters, { workspace, signal }: ToolContext) => {
      const jail = await openJail(workspace);
      const text = await readText(jail, args.path);
      const edit = withLineEndsOf(text, args);
      const at = uniqueIndex(text, edit);
      signal.throwIfAborted();
      await writeFileAtomic(jail, args.path, text.slice(0, at) + edit.newText + text.slice(at + edit.oldText.length), protectedPaths);
      return doneText(args.path);
    },
    reconcile: async (args: Parameters, { workspace }: ToolContext) => {
      const text = await readText(await openJail(workspace), args.path);
      return judgeEdit(text, withLineEndsOf(text, args), args.path);
    },
  });

/** The two texts of an edit, with the line ends of the file. */
interface Edit {
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
}

/** Models write \n. In a file with \r\n line ends only, the edit is converted to \r\n, so that it matches and keeps the line ends. */
function withLineEndsOf(text: string, edit: Edit): Edit {
  if (!text.includes('\r\n') || /(?<!\r)\n/u.test(text)) return edit;
  return { ...edit, oldText: toCrlf(edit.oldText), newText: toCrlf(edit.newText) };
}

function toCrlf(text: string): string {
  return text.replaceAll(/\r?\n/gu, '\r\n');
}

function uniqueIndex(text: string, { oldText, path }: Edit): number {
  const indexes = indexesOf(text, oldText);
  if (indexes.length > 1) {
    throw new WorkspaceError(
      'TEXT_NOT_UNIQUE',
      `oldText occurs more than once in ${shown(path)}; add neighbouring lines until it is unique. Nothing was changed`,
    );
  }
  const [at] = indexes;
  if (at === undefined)
    throw new WorkspaceError('TEXT_NOT_FOUND', `oldText does not occur in ${shown(path)}; read the file again. Nothing was changed`);
  return at;
}

/** Decides from the file whether an edit of a dead worker was made. In doubt `unknown`, because a second edit could damage the file. */
function judgeEdit(text: string, { oldText, newText }: Edit, path: string): Reconciled {
  const [oldAt, ...moreOld] = indexesOf(text, oldText);
  const newIndexes = newText === '' ? [] : indexesOf(text, newText);
  if (oldAt === undefined) return newText === '' || newIndexes.length > 0 ? { kind: 'done', result: doneText(path) } : { kind: 'unknown' };
  if (moreOld.length > 0) return { kind: 'unknown' };
  // if both overlap, the old text may be part of the new text that was just written
  const overlap = newIndexes.some((at) => at < oldAt + oldText.length && oldAt < at + newText.length);
  return overlap ? { kind: 'unknown' } : { kind: 'not_started' };
}

/** The indexes of all occurrences, including overlapping ones, up to 1,000. */
function indexesOf(text: string, piece: string): number[] {
  const indexes: number[] = [];
  for (let at = text.indexOf(piece); at !== -1 && indexes.length < 1_000; at = text.indexOf(piece, at + 1)) indexes.push(at);
  return indexes;
}

function doneText(path: string): string {
  return `edited ${path}`;
}
