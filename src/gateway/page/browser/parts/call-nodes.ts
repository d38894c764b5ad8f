import type { JsonValue } from '../../../../contracts/schemas/message.js';
import { visibleText } from '../../../../contracts/text/sanitize-text.js';
import { type ChangedLine, type FileChange, fileChangeOf } from '../content/file-change.js';
import { button, element, setText } from '../dom/element.js';

/** Text of arguments or output that is shown at first. Reports of tools may have a megabyte. */
const SHOWN_CHARS = 8_000;
/** Lines of a change that are shown at first. Each is an element. */
const SHOWN_LINES = 400;

/**
 * What a call does: the change of a file line by line, or its arguments. Invisible characters are escape sequences: a right-to-left override
 * would show another command than the one that runs.
 */
export function callNodes(name: string, args: JsonValue): Node[] {
  const change = fileChangeOf(name, args);
  if (change) return changeNodes(change);
  const text = typeof args === 'string' ? args : JSON.stringify(args, undefined, 2);
  return text === '{}' ? [] : textNodes(visibleText(text), 'Arguments');
}

function changeNodes({ path, lines }: FileChange): Node[] {
  const title = visibleText(path) || 'Change of files';
  const pre = block({ class: 'diff', 'aria-label': title }, ...lines.slice(0, SHOWN_LINES).map(lineNode));
  const more = moreButton(pre, {
    label: lines.length > SHOWN_LINES ? `Show all ${lines.length} lines` : undefined,
    show: () => pre.append(...lines.slice(SHOWN_LINES).map(lineNode)),
  });
  return [element('p', { class: 'block-title' }, title), pre, ...more];
}

function lineNode({ kind, text }: ChangedLine): HTMLElement {
  const line = visibleText(text);
  switch (kind) {
    case 'added':
      return element('ins', {}, `+ ${line}\n`);
    case 'removed':
      return element('del', {}, `- ${line}\n`);
    case 'place':
      return element('span', { class: 'place' }, `${line}\n`);
    case 'same':
      return element('span', {}, `  ${line}\n`);
  }
}

/** A text of a call below its title, with a button that shows the rest of a long one. */
export function textNodes(text: string, title: string): Node[] {
  const pre = block({ 'aria-label': title }, text.slice(0, SHOWN_CHARS));
  const more = moreButton(pre, {
    label: text.length > SHOWN_CHARS ? `Show all ${text.length} characters` : undefined,
    show: () => setText(pre, text),
  });
  return [element('p', { class: 'block-title' }, title), pre, ...more];
}

/** A button that shows the rest of a block. None without a label. */
function moreButton(pre: HTMLElement, { label, show }: { readonly label: string | undefined; readonly show: () => void }): Node[] {
  if (label === undefined) return [];
  const more = button(label, () => {
    show();
    more.remove();
    pre.focus();
  });
  return [more];
}

/** Text that keeps its lines, and that keyboards scroll. */
function block(attributes: Readonly<Record<string, string>>, ...children: readonly (Node | string)[]): HTMLPreElement {
  return element('pre', { tabindex: '0', role: 'region', ...attributes }, ...children);
}
