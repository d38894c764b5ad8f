import { diffLines } from 'diff';
import type { JsonValue } from '../../../../contracts/schemas/message.js';

/** A line of a change of files. */
export interface ChangedLine {
  readonly kind: 'same' | 'added' | 'removed' | 'place';
  readonly text: string;
}

/** What a call changes in a file. */
export interface FileChange {
  readonly path: string;
  readonly lines: readonly ChangedLine[];
}

/** A diff takes quadratic time in the worst case. Above this size the texts are shown one after the other. */
const DIFFED_CHARS_MAX = 50_000;

/** The change that a call of a tool for files makes, from its arguments. Undefined for every other call. Pure. */
export function fileChangeOf(name: string, args: JsonValue): FileChange | undefined {
  const text = (key: string): string => textArgument(args, key) ?? '';
  switch (name) {
    case 'edit_file':
      return { path: text('path'), lines: diffOf(text('oldText'), text('newText')) };
    case 'write_file':
      return { path: text('path'), lines: linesOf(text('content'), 'added') };
    case 'apply_patch':
      return { path: '', lines: patchLines(text('patch')) };
    default:
      return undefined;
  }
}

function diffOf(before: string, after: string): readonly ChangedLine[] {
  if (before.length + after.length > DIFFED_CHARS_MAX) return [...linesOf(before, 'removed'), ...linesOf(after, 'added')];
  return diffLines(withLineEnd(before), withLineEnd(after)).flatMap(({ value, added, removed }) =>
    linesOf(value, added ? 'added' : removed ? 'removed' : 'same'),
  );
}

/** A last line without a line end is not another line. */
function withLineEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function linesOf(text: string, kind: ChangedLine['kind']): ChangedLine[] {
  if (text === '') return [];
  return text
    .replace(/\n$/u, '')
    .split('\n')
    .map((line) => ({ kind, text: line }));
}

/** The lines of a patch, which begin with their kind. */
function patchLines(patch: string): ChangedLine[] {
  return patch.split('\n').map((line) => {
    if (/^(?:\*\*\*|@@|---|\+\+\+)/u.test(line)) return { kind: 'place', text: line };
    if (line.startsWith('+')) return { kind: 'added', text: line.slice(1) };
    if (line.startsWith('-')) return { kind: 'removed', text: line.slice(1) };
    return { kind: 'same', text: line.replace(/^ /u, '') };
  });
}

function textArgument(args: JsonValue, key: string): string | undefined {
  if (args === null || typeof args !== 'object' || !Object.hasOwn(args, key)) return undefined;
  const value: unknown = Reflect.get(args, key);
  return typeof value === 'string' ? value : undefined;
}
