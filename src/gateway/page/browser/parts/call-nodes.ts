import type { JsonValue } from '../../../../contracts/schemas/message.js';
import { fileChangeOf } from '../content/file-change.js';
import { button, element, setText } from '../dom/element.js';

/** Text of arguments or output that is shown at first. Reports of tools may have a megabyte. */
const SHOWN_CHARS = 8_000;

/** What a call does: the change of a file line by line, or its arguments. */
export function callNodes(name: string, args: JsonValue): Node[] {
  const change = fileChangeOf(name, args);
  if (!change) {
    const text = typeof args === 'string' ? args : JSON.stringify(args, undefined, 2);
    return text === '{}' ? [] : textNodes(text, 'Arguments');
  }
  const rows = change.lines.map(({ kind, text }) => {
    switch (kind) {
      case 'added':
        return element('ins', {}, `+ ${text}\n`);
      case 'removed':
        return element('del', {}, `- ${text}\n`);
      case 'place':
        return element('span', { class: 'place' }, `${text}\n`);
      case 'same':
        return element('span', {}, `  ${text}\n`);
    }
  });
  const title = change.path || 'Change of files';
  return [element('p', { class: 'block-title' }, title), block({ class: 'diff', 'aria-label': title }, ...rows)];
}

/** A text of a call below its title, with a button that shows the rest of a long one. */
export function textNodes(text: string, title: string): Node[] {
  const pre = block({ 'aria-label': title }, text.slice(0, SHOWN_CHARS));
  const named = [element('p', { class: 'block-title' }, title), pre];
  if (text.length <= SHOWN_CHARS) return named;
  const more = button(`Show all ${text.length} characters`, () => {
    setText(pre, text);
    more.remove();
    pre.focus();
  });
  return [...named, more];
}

/** Text that keeps its lines, and that keyboards scroll. */
function block(attributes: Readonly<Record<string, string>>, ...children: readonly (Node | string)[]): HTMLPreElement {
  return element('pre', { tabindex: '0', role: 'region', ...attributes }, ...children);
}
