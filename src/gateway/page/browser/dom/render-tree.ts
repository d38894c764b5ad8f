import { GrowingMarkdown } from '../content/growing-markdown.js';
import type { MarkdownBlock } from '../content/markdown.js';
import type { Tree } from '../content/tree.js';
import { element } from './element.js';

/** Makes the nodes of rendered text. */
function renderTree(tree: readonly Tree[]): Node[] {
  return tree.map((part) => {
    if (typeof part === 'string') return document.createTextNode(part);
    const { tag, href, className, start, children } = part;
    const link = href === undefined ? {} : { href, target: '_blank', rel: 'noopener noreferrer' };
    // a table and code may be wider than the page: keyboards scroll them too
    const scrolls = tag === 'pre' || className === 'wide' ? { tabindex: '0' } : {};
    const attributes = { class: className, start: start === undefined ? undefined : String(start), ...link, ...scrolls };
    return element(tag, attributes, ...renderTree(children));
  });
}

/** Shows a Markdown text that grows: blocks that did not change keep their elements. */
export class MarkdownText {
  readonly element = element('div', { class: 'markdown' });
  readonly #reader = new GrowingMarkdown();
  #wanted = '';
  #shown = '';
  #blocks: readonly MarkdownBlock[] = [];
  #nodes: (readonly Node[])[] = [];
  #waiting: ReturnType<typeof setTimeout> | undefined;

  /** Shows the text, at once or a little later: a hostile text that grows must not occupy the page. */
  update(text: string): void {
    this.#wanted = text;
    if (text === this.#shown || this.#waiting !== undefined) return;
    const { pauseMs } = this.#reader;
    if (pauseMs === 0) {
      this.#show(text);
      return;
    }
    this.#waiting = setTimeout(() => {
      this.#waiting = undefined;
      this.#show(this.#wanted);
    }, pauseMs);
  }

  #show(text: string): void {
    this.#shown = text;
    const blocks = this.#reader.read(text);
    const same = blocks.findIndex((block, index) => block.source !== this.#blocks[index]?.source);
    const kept = same === -1 ? blocks.length : same;
    for (const node of this.#nodes.splice(kept).flat()) node.parentNode?.removeChild(node);
    for (const { tree } of blocks.slice(kept)) {
      const nodes = renderTree(tree);
      this.element.append(...nodes);
      this.#nodes.push(nodes);
    }
    this.#blocks = blocks;
  }
}
