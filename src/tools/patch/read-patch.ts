import { parsePatch, type StructuredPatch } from 'diff';
import { PATCH_LIMITS } from '../../contracts/constants/limits.js';
import { WorkspaceError } from '../workspace/workspace-error.js';

/** The change of one file. */
export interface FilePatch {
  /** Relative to the workspace. */
  readonly path: string;
  readonly kind: 'change' | 'create' | 'delete';
  readonly patch: StructuredPatch;
}

const NO_FILE = '/dev/null';

/** The files of a unified diff. Throws WorkspaceError `BAD_PATCH`. Pure. */
export function readPatch(text: string): FilePatch[] {
  const patches = parse(text);
  const files = patches.filter(({ oldFileName, newFileName, hunks }) => oldFileName ?? newFileName ?? hunks[0]).map(toFile);
  if (files.length === 0) throw badPatch('changes no file: begin each with --- a/PATH and +++ b/PATH, and each place with @@ -1,3 +1,3 @@');
  if (files.length > PATCH_LIMITS.filesMax) throw badPatch(`changes ${files.length} files, at most ${PATCH_LIMITS.filesMax}`);
  return files;
}

/** With the counts that it has, else with the right ones: only counts tell a removed line `-- a` from the header of a file. */
function parse(text: string): StructuredPatch[] {
  try {
    return parsePatch(text);
  } catch {
    try {
      return parsePatch(withCounts(text));
    } catch (error) {
      throw badPatch(`is no unified diff (${error instanceof Error ? error.message.trim() : String(error)})`);
    }
  }
}

function toFile(patch: StructuredPatch): FilePatch {
  const { oldFileName: from = '', newFileName: to = '', hunks, isRename, isCopy, isBinary } = patch;
  const kind = from === NO_FILE ? 'create' : to === NO_FILE ? 'delete' : 'change';
  const names = [from, to].filter((name) => name !== NO_FILE);
  // git's prefixes, unless only one name has one
  const hasPrefixes = names.every((name) => /^[ab]\//u.test(name));
  const [path = '', other = path] = names.map((name) => (hasPrefixes ? name.slice(2) : name));
  if (path === '') throw badPatch('has a part without the name of its file: --- a/PATH and +++ b/PATH');
  if (isBinary) throw badPatch(`changes the binary file ${path}`);
  if (isRename || isCopy || path !== other) throw badPatch(`renames ${path}: delete it, and create ${other}`);
  if (hunks.length === 0) throw badPatch(`has no changes for ${path}`);
  return { path, kind, patch };
}

/** The text with the counts of its places corrected: models count wrongly, and the lines themselves say how many they are. */
function withCounts(text: string): string {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const counted: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? '';
    at += 1;
    const header = /^@@ -(?<from>\d+)(?:,\d+)? \+(?<to>\d+)(?:,\d+)? @@/u.exec(line)?.groups;
    if (!header) {
      counted.push(line);
      continue;
    }
    const body = bodyAt(lines, at);
    at += body.length;
    const count = (mark: string): number => body.filter((each) => each.startsWith(' ') || each.startsWith(mark)).length;
    counted.push(`@@ -${header.from},${count('-')} +${header.to},${count('+')} @@`, ...body);
  }
  return `${counted.join('\n')}\n`;
}

/** The lines of a place. An empty one lost its space, unless it is among the last, which separate it from the next file. */
function bodyAt(lines: readonly string[], start: number): string[] {
  const body: string[] = [];
  for (let at = start; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const isFileHeader = line.startsWith('--- ') && (lines[at + 1]?.startsWith('+++ ') ?? false);
    if (isFileHeader || !/^(?:[ +\\-]|$)/u.test(line)) break;
    body.push(line);
  }
  const end = body.findLastIndex((line) => line !== '') + 1;
  return body.slice(0, end).map((line) => line || ' ');
}

function badPatch(problem: string): WorkspaceError {
  return new WorkspaceError('BAD_PATCH', `the patch ${problem}. Nothing was changed`);
}
