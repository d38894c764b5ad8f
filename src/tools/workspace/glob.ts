import { sequenceMatches } from '../../contracts/text/wildcard.js';

/** True if a path (relative, forward slashes) matches the glob. */
export type GlobMatch = (path: string) => boolean;

/** The limit of globs that `{a,b}` expands to. */
const ALTERNATIVES_MAX = 64;

/**
 * Compiles a glob: `*` and `?` within one path segment, `**` across segments, `[a-z]` and `[!a-z]`, `{a,b}`, and `\x` for a literal x.
 * A glob without a slash matches the file name only, so `*.ts` finds files at any depth. Does not use a regular expression: matching
 * takes time linear in glob × path for every glob. Never throws.
 */
export function compileGlob(glob: string): GlobMatch {
  const globs = expandBraces(glob.replace(/^\.?\//u, ''));
  const matches = globs.map((one) => (one.includes('/') ? matchPath(one.split('/')) : matchName(one)));
  return (path) => matches.some((match) => match(path));
}

function matchName(glob: string): GlobMatch {
  if (glob === '**') return () => true;
  const tokens = tokensOf(glob);
  return (path) => matchTokens(tokens, path.slice(path.lastIndexOf('/') + 1));
}

function matchPath(parts: readonly string[]): GlobMatch {
  const compiled = parts.map((part) => (part === '**' ? 'any' : tokensOf(part)));
  return (path) =>
    sequenceMatches({
      items: path.split('/'),
      pattern: compiled,
      isStar: (part) => part === 'any',
      fits: (part, name) => part !== 'any' && matchTokens(part, name),
    });
}

/** One element of a pattern: any characters (`star`), any one character, or one of a set. */
type Token = 'star' | 'one' | { readonly has: (character: string) => boolean };

function matchTokens(tokens: readonly Token[], name: string): boolean {
  return sequenceMatches({
    items: Array.from(name),
    pattern: tokens,
    isStar: (token) => token === 'star',
    fits: (token, character) => token === 'one' || (token !== 'star' && token.has(character)),
  });
}

function tokensOf(part: string): Token[] {
  const characters = Array.from(part);
  const tokens: Token[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? '';
    const set = character === '[' ? setAt(characters, at) : undefined;
    if (set) {
      tokens.push({ has: set.has });
      at = set.end;
    } else if (character === '\\' && at + 1 < characters.length) {
      at += 1;
      tokens.push(literal(characters[at] ?? ''));
    } else {
      tokens.push(character === '*' ? 'star' : character === '?' ? 'one' : literal(character));
    }
  }
  return tokens;
}

function literal(wanted: string): Token {
  return { has: (character) => character === wanted };
}

/** Parses a set `[…]` that starts here. Undefined if it is not closed; `[` is then a literal. */
function setAt(characters: readonly string[], start: number): { has: (character: string) => boolean; end: number } | undefined {
  const end = characters.indexOf(']', start + 2);
  if (end === -1) return undefined;
  const negated = characters[start + 1] === '!' || characters[start + 1] === '^';
  const body = characters.slice(start + (negated ? 2 : 1), end);
  return { end, has: (character) => inSet(body, character) !== negated };
}

function inSet(body: readonly string[], character: string): boolean {
  for (let at = 0; at < body.length; at += 1) {
    const from = body[at] ?? '';
    const to = body[at + 1] === '-' ? body[at + 2] : undefined;
    if (to === undefined ? from === character : from <= character && character <= to) return true;
    if (to !== undefined) at += 2;
  }
  return false;
}

/** Expands `a{b,c}d` to `abd` and `acd`, innermost braces first. Braces above the limit stay literal. */
function expandBraces(glob: string): string[] {
  let globs = [glob];
  for (;;) {
    const next = globs.flatMap((one) => expandOne(one));
    if (next.length > ALTERNATIVES_MAX || (next.length === globs.length && next.every((one, at) => one === globs[at]))) return globs;
    globs = next;
  }
}

function expandOne(glob: string): string[] {
  const close = glob.indexOf('}');
  const open = close === -1 ? -1 : glob.lastIndexOf('{', close);
  if (open === -1) return [glob];
  const [before, after] = [glob.slice(0, open), glob.slice(close + 1)];
  return glob
    .slice(open + 1, close)
    .split(',')
    .map((choice) => before + choice + after);
}
