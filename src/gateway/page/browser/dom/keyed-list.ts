/** A piece of the page that shows an item, and changes with it. */
export interface Part<Item> {
  readonly element: HTMLElement;
  update(item: Item): void;
}

/** How a list shows its items. */
export interface ListOptions<Item> {
  /** Unique in the list. */
  readonly keyOf: (item: Item) => string;
  /** Makes the part of an item, without its content: `update` follows. */
  readonly create: (item: Item) => Part<Item>;
}

/** Shows a list of items. The element of an item stays while the item does, so focus, selection and open details stay too. */
export class KeyedList<Item> {
  readonly #parent: HTMLElement;
  readonly #options: ListOptions<Item>;
  #parts = new Map<string, Part<Item>>();

  constructor(parent: HTMLElement, options: ListOptions<Item>) {
    this.#parent = parent;
    this.#options = options;
  }

  /** Shows these items, in this order. */
  update(items: readonly Item[]): void {
    const { keyOf, create } = this.#options;
    const parts = new Map<string, Part<Item>>();
    for (const item of items) {
      const key = keyOf(item);
      const part = this.#parts.get(key) ?? create(item);
      part.update(item);
      parts.set(key, part);
    }
    for (const [key, part] of this.#parts) if (!parts.has(key)) part.element.remove();
    this.#parts = parts;
    this.#place([...parts.values()]);
  }

  #place(parts: readonly Part<Item>[]): void {
    let before = this.#parent.firstElementChild;
    for (const { element } of parts) {
      if (element === before) before = element.nextElementSibling;
      else this.#parent.insertBefore(element, before);
    }
  }
}
