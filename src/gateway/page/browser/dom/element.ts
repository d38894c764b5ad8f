/** What an element contains. A text is a text node: nothing in it becomes markup. */
export type Child = Node | string | undefined;

/** Attributes of an element. Absent or false: the element does not have it. */
export type Attributes = Readonly<Record<string, string | boolean | undefined>>;

/** Makes an element. Its attributes are names that the page chose; hostile text is only in values and children. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  setAttributes(made, attributes);
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

/** Sets attributes, and removes those that are absent or false. One that is there is not written again: the browser would lay the page out anew. */
export function setAttributes(target: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    const wanted = value === undefined || value === false ? null : value === true ? '' : value;
    if (target.getAttribute(name) === wanted) continue;
    if (wanted === null) target.removeAttribute(name);
    else target.setAttribute(name, wanted);
  }
}

/** Sets the text of an element, unless it has it: a live region would announce it again. */
export function setText(target: Element, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

/** Makes a button that does not submit its form. */
export function button(label: string, onClick: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, label);
  made.addEventListener('click', onClick);
  return made;
}

/** Makes a field with its label. `field` gets the id. */
export function labelled(label: string, field: HTMLElement, id: string): readonly [HTMLLabelElement, HTMLElement] {
  field.id = id;
  return [element('label', { for: id }, label), field];
}
