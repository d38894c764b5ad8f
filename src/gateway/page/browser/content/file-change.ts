import type { JsonValue } from '../../../../contracts/schemas/message.js';
import { type ComparedLine, compareLines, linesOf } from '../../../../output/compare-lines.js';

/** A line of a change of files. */
export interface ChangedLine {
  readonly kind: ComparedLine['kind'] | 'place';
  readonly text: string;
}

/** What a call changes in a file. */
export interface FileChange {
  readonly path: string;
  readonly lines: readonly ChangedLine[];
}

/** True for the calls that have a change of files. Pure. */
export function changesFile(name: string): boolean {
  return name === 'edit_file' || name === 'write_file' || name === 'apply_patch';
}

/** A call is shown more than once, and its arguments do not change. */
const known = new WeakMap<object, FileChange>();

/** The change that a call of a tool for files makes, from its arguments. Undefined for every other call. Computed once per call. */
export function fileChangeOf(name: string, args: JsonValue): FileChange | undefined {
  if (args === null || typeof args !== 'object') return changeOf(name, args);
  const change = known.get(args) ?? changeOf(name, args);
  if (change) known.set(args, change);
  return change;
}

function changeOf(name: string, args: JsonValue): FileChange | undefined {
  const text = (key: string): string => textArgument(args, key) ?? '';
  switch (name) {
    case 'edit_file':
      return { path: text('path'), lines: compareLines(text('oldText'), text('newText')) };
    case 'write_file':
      return { path: text('path'), lines: linesOf(text('content'), 'added') };
    case 'apply_patch':
      return { path: '', lines: patchLines(text('patch')) };
    default:
      return undefined;
  }
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
