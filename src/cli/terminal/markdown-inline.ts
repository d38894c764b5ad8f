import type { Token } from 'marked';
import { terminalText } from '../display/terminal-text.js';
import type { Line, Span, Style } from './styled-text.js';

/** The entities that models write in text. Others stay as they are. */
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' };
const DEPTH_MAX = 12;

/** Formats the inline parts of a block as lines, one for each line break. They are not wrapped. Pure. */
export function inlineLines(tokens: readonly Token[], styles: readonly Style[] = []): Line[] {
  const lines: Span[][] = [[]];
  for (const span of inlineSpans(tokens, styles, 0)) {
    const [first = '', ...others] = span.text.split('\n');
    lines.at(-1)?.push({ ...span, text: first });
    for (const text of others) lines.push([{ ...span, text }]);
  }
  return lines;
}

function inlineSpans(tokens: readonly Token[], styles: readonly Style[], depth: number): Span[] {
  return tokens.flatMap((token) => (depth > DEPTH_MAX ? [{ text: token.raw, styles }] : spansOf(token, styles, depth)));
}

function spansOf(token: Token, styles: readonly Style[], depth: number): Span[] {
  const inside = (...more: readonly Style[]): Span[] => {
    const children = 'tokens' in token ? token.tokens : undefined;
    const own = [...styles, ...more];
    return children && children.length > 0 ? inlineSpans(children, own, depth + 1) : [{ text: decoded(textOf(token)), styles: own }];
  };
  switch (token.type) {
    case 'strong':
      return inside('bold');
    case 'em':
      return inside('italic');
    case 'del':
      return inside('strike');
    case 'codespan':
      return [{ text: textOf(token), styles: [...styles, 'code'] }];
    case 'br':
      return [{ text: '\n', styles }];
    case 'html':
      return [{ text: token.raw, styles }];
    case 'checkbox':
      return [];
    case 'link':
    case 'image':
      return [...inside('link'), ...address(token, styles)];
    default:
      return inside();
  }
}

/** The address behind the text of a link: the text alone could hide it. */
function address(token: Token, styles: readonly Style[]): Span[] {
  const href = 'href' in token && typeof token.href === 'string' ? token.href : '';
  const text = textOf(token);
  return href === '' || href === text || href === `mailto:${text}` ? [] : [{ text: ` (${href})`, styles: [...styles, 'dim'] }];
}

function decoded(text: string): string {
  // marked decodes entities too, also those of control characters
  return terminalText(text.replaceAll(/&(?<name>#39|[a-z]+);/gu, (entity, name: string) => ENTITIES[name] ?? entity));
}

function textOf(token: Token): string {
  return 'text' in token && typeof token.text === 'string' ? token.text : token.raw;
}
