import type { Document, LineCounter } from 'yaml';
import { CONFIG_LIMITS } from '../../contracts/constants/limits.js';

/** A Markdown file with options between two lines of `---`. */
export interface FrontMatter {
  /** The options. Empty for an empty front matter. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The text below the front matter, trimmed. */
  readonly body: string;
  /** The line of the file, from 1, of an option by its path. Of the nearest option above it if there is none; undefined without any. */
  readonly lineOf: (path: readonly PropertyKey[]) => number | undefined;
  /** The line of the file, from 1, of the first line of options that contains a word. */
  readonly lineWith: (text: string) => number | undefined;
}

/** An invalid front matter. `line` and `column` count from 1 in the file. */
export interface FrontMatterProblem {
  readonly problem: string;
  readonly line?: number;
  readonly column?: number;
}

/** Options between two lines of `---`, then the text. */
const FRONT_MATTER = /^---[ \t]*\n(?<options>(?:.*?\n)?)---[ \t]*(?:\n(?<body>.*))?$/su;

/** The text of a file without a byte order mark, with `\n` at line ends. Undefined if the bytes are no UTF-8 text. Never throws. */
export function decodeMarkdown(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // UTF-16 of plain letters is valid UTF-8 with NUL characters
    return text.includes('\0') ? undefined : text.replaceAll('\r\n', '\n');
  } catch {
    // invalid UTF-8, as every file in UTF-16 with a byte order mark
    return undefined;
  }
}

/**
 * Reads the front matter of a Markdown text. Undefined if the text has none. Aliases that expand to more than 1 MiB, keys that are defined
 * twice, and tabs as indentation are problems. Never throws.
 */
export async function parseFrontMatter(text: string): Promise<FrontMatter | FrontMatterProblem | undefined> {
  const { options, body = '' } = FRONT_MATTER.exec(text)?.groups ?? {};
  if (options === undefined) return undefined;
  if (isTooDeep(options)) return { problem: TOO_DEEP, line: 2, column: 1 };
  const { parseDocument, LineCounter: Lines } = await import('yaml');
  const lines = new Lines();
  try {
    const document = parseDocument(options, { lineCounter: lines, prettyErrors: false });
    const [error] = document.errors;
    if (error) return { problem: describe(error.code, error.message), ...position(lines, error.pos[0]) };
    const value: unknown = document.toJS() ?? {};
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return { problem: 'the front matter is not a list of options', line: 2, column: 1 };
    if (isTooLarge(value)) return { problem: TOO_LARGE, line: 2, column: 1 };
    return {
      options: { ...value },
      body: body.trim(),
      lineOf: (path) => lineOf(document, lines, path),
      lineWith: (part) => lineWith(options, part),
    };
  } catch (error) {
    // the reader limits the expansion of aliases
    return { problem: error instanceof ReferenceError ? TOO_LARGE : String(error), line: 2, column: 1 };
  }
}

const TOO_LARGE = `the front matter is too large with its aliases expanded (limit: ${CONFIG_LIMITS.frontMatterExpandedBytesMax} bytes)`;

const { frontMatterDepthMax } = CONFIG_LIMITS;
const TOO_DEEP = `the front matter is nested too deeply (limit: ${frontMatterDepthMax} levels)`;

/** Lists in lists on one line, such as `- - -`. */
const NESTED_LISTS = new RegExp(String.raw`(?:[-?:][ \t]+){${frontMatterDepthMax}}`, 'u');

/** True for brackets or lists that nest too deeply. The reader would overflow the stack, which ends the whole process. */
function isTooDeep(options: string): boolean {
  let depth = 0;
  for (const bracket of options.match(/[[\]{}]/gu) ?? []) {
    depth = bracket === '[' || bracket === '{' ? depth + 1 : Math.max(0, depth - 1);
    if (depth > frontMatterDepthMax) return true;
  }
  return NESTED_LISTS.test(options);
}

function isTooLarge(value: object): boolean {
  return JSON.stringify(value).length > CONFIG_LIMITS.frontMatterExpandedBytesMax;
}

function describe(code: string, message: string): string {
  if (code === 'DUPLICATE_KEY') return 'an option is defined twice';
  if (code === 'TAB_AS_INDENT') return 'tabs cannot indent YAML; use spaces';
  return message.split('\n')[0] ?? '';
}

/** The first line of a file is `---`, so its options begin on the second one. */
const LINES_BEFORE = 1;

function position(lines: LineCounter, offset: number): { readonly line: number; readonly column: number } {
  const { line, col } = lines.linePos(offset);
  return { line: line + LINES_BEFORE, column: col };
}

/** The part of a YAML node that a path leads through. */
interface Node {
  readonly range?: readonly number[] | null;
  readonly items?: readonly (Node | { readonly key: Node & { readonly value?: unknown }; readonly value: Node | null })[];
}

function lineOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number | undefined {
  let node: Node | null | undefined = document.contents as Node | null;
  let found: number | undefined;
  for (const key of path) {
    const item: NonNullable<Node['items']>[number] | undefined =
      typeof key === 'number' ? node?.items?.[key] : node?.items?.find((each) => 'key' in each && String(each.key.value) === String(key));
    if (!item) return found;
    const at: Node = 'key' in item ? item.key : item;
    if (at.range) found = position(lines, at.range[0] ?? 0).line;
    node = 'key' in item ? item.value : item;
  }
  return found;
}

function lineWith(options: string, part: string): number | undefined {
  // the whole word: a wrong name is often the beginning of a right one
  const index = options.split('\n').findIndex((line) => line.split(/[\s,"'[\]{}]+/u).includes(part));
  return index === -1 ? undefined : index + 1 + LINES_BEFORE;
}
