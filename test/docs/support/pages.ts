import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the repository, with a slash at its end. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The examples, each with a page that shows how to run it. */
const EXAMPLES: readonly string[] = readdirSync(join(ROOT, 'examples'));

/** One page of the documentation. */
export interface Page {
  /** Its path below the repository's folder. */
  readonly path: string;
  readonly text: string;
}

/** A fenced block of code. `info` is the rest of the line that opens it, behind the language. */
export interface CodeBlock {
  readonly page: string;
  /** The line of the page on which its code begins, from 1. */
  readonly line: number;
  readonly language: string;
  readonly info: string;
  readonly code: string;
}

/** The pages that stand at these places: files, or folders with all pages below them. Throws for a place that there is not. */
export function readPages(...places: readonly string[]): Page[] {
  return places.flatMap(pathsAt).map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

/** Every page written by hand for people: all but the reference, which is generated and has tests of its own. */
export function writtenPages(): Page[] {
  return readPages(
    'README.md',
    'CONTRIBUTING.md',
    'docs/quickstart.md',
    'docs/guides',
    'docs/architecture.md',
    'docs/architecture',
    ...EXAMPLES.map((name) => `examples/${name}/README.md`),
  );
}

/** The text of one page. */
export function pageText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The blocks of code of a page, in order. */
export function codeBlocks({ path, text }: Page): CodeBlock[] {
  return [...text.matchAll(/^```(?<language>\w+)(?: (?<info>.+))?\n(?<code>[\s\S]*?)^```$/gmu)].map((match) => ({
    page: path,
    line: text.slice(0, match.index).split('\n').length + 1,
    language: match.groups?.['language'] ?? '',
    info: match.groups?.['info'] ?? '',
    code: match.groups?.['code'] ?? '',
  }));
}

/** The page without its blocks of code: each line of them is empty, so that line numbers stay. */
export function prose({ text }: Pick<Page, 'text'>): string {
  return text.replaceAll(/^```\w+[\s\S]*?^```$/gmu, (block) => block.replaceAll(/[^\n]/gu, ''));
}

/** The headings of a page as web pages name them. */
export function anchors(markdown: string): string[] {
  return [...prose({ text: markdown }).matchAll(/^#+ (?<title>.+)$/gmu)].map(({ groups }) =>
    (groups?.['title'] ?? '')
      .toLowerCase()
      .replaceAll(/[^\w -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** A link of a page to another file of the repository, or within itself. */
export interface Link {
  readonly page: string;
  /** The file's path below the repository's folder. */
  readonly file: string;
  readonly anchor?: string;
}

/** All links of a page but those to the web. */
export function links({ path, text }: Page): Link[] {
  return [...prose({ text }).matchAll(/\]\((?!https?:)(?<file>[^)#\s]*)(?:#(?<anchor>[\w-]+))?\)/gu)].map(({ groups }) => ({
    page: path,
    file: groups?.['file'] ? join(dirname(path), groups['file']) : path,
    ...(groups?.['anchor'] === undefined ? {} : { anchor: groups['anchor'] }),
  }));
}

function pathsAt(place: string): string[] {
  if (place.endsWith('.md')) return [place];
  return readdirSync(join(ROOT, place))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(place, name));
}
