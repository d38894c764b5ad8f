import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import { decodeEntities } from './decode-entities.js';
import type { Tree, TreeElement, TreeTag } from './tree.js';

/** A block of a Markdown text. Two blocks with the same source look the same, so a page keeps the elements of those that did not change. */
export interface MarkdownBlock {
  readonly source: string;
  readonly tree: readonly Tree[];
}

/**
 * Reads Markdown of a model into blocks. Nothing in the text becomes markup: HTML is shown as it is written, links lead only to safe addresses,
 * and an image is a link to it. Never throws; a text that the parser refuses, or would take long for, is shown as it is written. Pure.
 */
export function readMarkdown(text: string): readonly MarkdownBlock[] {
  if (isLong(text)) return [plainBlock(text)];
  try {
    return lexer(text, { gfm: true })
      .filter(({ type }) => type !== 'space' && type !== 'def')
      .map((token) => ({ source: token.raw, tree: blockOf(token as MarkedToken) }));
  } catch {
    // the parser gives up on text that is nested without end
    return [plainBlock(text)];
  }
}

/** The parser takes quadratic time for the emphasis of one block: a hostile text of this size costs it a second or two. */
const CHARS_MAX = 100_000;
const BLOCK_CHARS_MAX = 10_000;

function isLong(text: string): boolean {
  return text.length > CHARS_MAX || (text.length > BLOCK_CHARS_MAX && text.split('\n\n').some(({ length }) => length > BLOCK_CHARS_MAX));
}

function plainBlock(text: string): MarkdownBlock {
  return { source: text, tree: [element('p', [text], 'plain')] };
}

type ByType<Result> = { readonly [Type in MarkedToken['type']]?: (token: Extract<MarkedToken, { type: Type }>) => Result };

/** Blocks by type. Every other token is a part of a line. */
const BLOCKS: ByType<Tree[]> = {
  heading: ({ depth, tokens }) => [element(HEADINGS[Math.min(depth, HEADINGS.length) - 1] ?? 'h6', inlineOf(tokens))],
  paragraph: ({ tokens }) => [element('p', inlineOf(tokens))],
  code: ({ text }) => [element('pre', [element('code', [text])])],
  blockquote: ({ tokens }) => [element('blockquote', blocksOf(tokens))],
  list: (token) => [listOf(token)],
  table: (token) => [tableOf(token)],
  hr: () => [element('hr', [])],
  html: ({ text }) => [element('p', [text])],
  space: () => [],
  def: () => [],
};

/** Parts of lines by type. Every other token is the text that was written. */
const PARTS: ByType<Tree[]> = {
  // a text of a list item has parts of its own
  text: ({ tokens, text }) => (tokens ? inlineOf(tokens) : [decodeEntities(text)]),
  escape: ({ text }) => [decodeEntities(text)],
  strong: ({ tokens }) => [element('strong', inlineOf(tokens))],
  em: ({ tokens }) => [element('em', inlineOf(tokens))],
  del: ({ tokens }) => [element('del', inlineOf(tokens))],
  codespan: ({ text }) => [element('code', [text])],
  br: () => [element('br', [])],
  link: ({ href, tokens }) => linkOf(href, inlineOf(tokens)),
  image: ({ href, text }) => linkOf(href, [`🖼 ${decodeEntities(text) || 'image'}`]),
};

function blockOf(token: MarkedToken): Tree[] {
  return readerOf(BLOCKS, token)?.(token) ?? inlineOf([token]);
}

/** The page has the levels above for itself. */
const HEADINGS: readonly TreeTag[] = ['h3', 'h4', 'h5', 'h6'];

function blocksOf(tokens: readonly Token[]): Tree[] {
  return tokens.flatMap((token) => blockOf(token as MarkedToken));
}

function listOf({ ordered, start, items }: Tokens.List): TreeElement {
  const children = items.map((item) => {
    const box = item.task ? [element('span', [item.checked ? '☑ ' : '☐ '], 'task-box')] : [];
    return element('li', [...box, ...blocksOf(item.tokens.filter(({ type }) => type !== 'checkbox'))]);
  });
  return { tag: ordered ? 'ol' : 'ul', ...(typeof start === 'number' && start !== 1 ? { start } : {}), children };
}

function tableOf({ header, rows }: Tokens.Table): TreeElement {
  const cells = (row: readonly Tokens.TableCell[], tag: 'th' | 'td'): Tree =>
    element(
      'tr',
      row.map(({ tokens }) => element(tag, inlineOf(tokens))),
    );
  const table = element('table', [
    element('thead', [cells(header, 'th')]),
    element(
      'tbody',
      rows.map((row) => cells(row, 'td')),
    ),
  ]);
  return element('span', [table], 'wide');
}

function inlineOf(tokens: readonly Token[] = []): Tree[] {
  return tokens.flatMap((token) => inlinePart(token as MarkedToken));
}

function inlinePart(token: MarkedToken): Tree[] {
  return readerOf(PARTS, token)?.(token) ?? [token.raw];
}

/** The table has the reader of each type under its name. */
function readerOf(table: ByType<Tree[]>, { type }: MarkedToken): ((token: MarkedToken) => Tree[]) | undefined {
  return table[type] as ((token: MarkedToken) => Tree[]) | undefined;
}

/** A link, or the text alone if its address is not safe. */
function linkOf(address: string, children: readonly Tree[]): Tree[] {
  const href = safeAddress(decodeEntities(address));
  return href === undefined ? [...children] : [{ tag: 'a', href, children }];
}

function element(tag: TreeTag, children: readonly Tree[], className?: string): TreeElement {
  return { tag, children, ...(className === undefined ? {} : { className }) };
}

const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:']);

/**
 * The address of a link in hostile text, if a reader may follow it: http, https or mailto, absolute, and without a user name that could
 * disguise the host. Undefined for every other one. Pure.
 */
export function safeAddress(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, username, password, href } = new URL(address);
  return SCHEMES.has(protocol) && username === '' && password === '' ? href : undefined;
}
