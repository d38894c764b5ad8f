import { z } from 'zod';
import { defineTool, type Reconciled, type ToolContext, type ToolDefinition } from '../define/define-tool.js';
import { writeFileAtomic } from './workspace/atomic-write.js';
import { openJail } from './workspace/jail.js';
import { readText } from './workspace/read-lines.js';
import { shown, WorkspaceError } from './workspace/workspace-error.js';

const Parameters = z
  .strictObject({
    path: z.string().min(1).describe('Path of the file, relative to the workspace.'),
    oldText: z
      .string()
      .min(1)
      .describe('The text to replace, exactly as it stands in the file. It must occur exactly once: take in neighbouring lines if needed.'),
    newText: z.string().describe('The text to put in its place.'),
  })
  .refine(({ oldText, newText }) => oldText !== newText, { message: 'is the same as oldText', path: ['newText'] });
type Parameters = z.infer<typeof Parameters>;

/** Replaces one piece of text in a file; after a lost worker it looks at the file to say whether that happened. */
export const editFile: ToolDefinition<Parameters> = defineTool({
  name: 'edit_file',
  description:
    'Change one place in a text file of the workspace: oldText, which must occur exactly once, becomes newText. ' +
    'Spaces and line breaks count. Nothing is changed when oldText is missing or occurs more than once.',
  parameters: Parameters,
  effect: 'once',
  network: false,
  execute: async (args: Parameters, { workspace, signal }: ToolContext) => {
    const jail = await openJail(workspace);
    const text = await readText(jail, args.path);
    const edit = withLineEndsOf(text, args);
    const at = onlyPlace(text, edit);
    signal.throwIfAborted();
    await writeFileAtomic(jail, args.path, text.slice(0, at) + edit.newText + text.slice(at + edit.oldText.length));
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

/** Models write \n; in a file whose lines all end in \r\n the edit gets the same ends, so that it matches and mixes nothing. */
function withLineEndsOf(text: string, edit: Edit): Edit {
  if (!text.includes('\r\n') || /(?<!\r)\n/u.test(text)) return edit;
  return { ...edit, oldText: toCrlf(edit.oldText), newText: toCrlf(edit.newText) };
}

function toCrlf(text: string): string {
  return text.replaceAll(/\r?\n/gu, '\r\n');
}

function onlyPlace(text: string, { oldText, path }: Edit): number {
  const places = placesOf(text, oldText);
  if (places.length > 1) {
    throw new WorkspaceError(
      'TEXT_NOT_UNIQUE',
      `oldText occurs more than once in ${shown(path)}; add neighbouring lines until it is unique. Nothing was changed`,
    );
  }
  const [at] = places;
  if (at === undefined)
    throw new WorkspaceError('TEXT_NOT_FOUND', `oldText does not occur in ${shown(path)}; read the file again. Nothing was changed`);
  return at;
}

/** What a file tells about an edit whose worker died. In doubt `unknown`: a second edit could spoil the file. */
function judgeEdit(text: string, { oldText, newText }: Edit, path: string): Reconciled {
  const [oldAt, ...moreOld] = placesOf(text, oldText);
  const newPlaces = newText === '' ? [] : placesOf(text, newText);
  if (oldAt === undefined) return newText === '' || newPlaces.length > 0 ? { kind: 'done', result: doneText(path) } : { kind: 'unknown' };
  if (moreOld.length > 0) return { kind: 'unknown' };
  // where the two overlap, the old text may be a part of the new one that was just written
  const overlap = newPlaces.some((at) => at < oldAt + oldText.length && oldAt < at + newText.length);
  return overlap ? { kind: 'unknown' } : { kind: 'not_started' };
}

/** Where a text occurs, overlaps included: at most a few, more do not matter. */
function placesOf(text: string, piece: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(piece); at !== -1 && places.length < 1_000; at = text.indexOf(piece, at + 1)) places.push(at);
  return places;
}

function doneText(path: string): string {
  return `edited ${path}`;
}
