/** What a message asks of the run itself, on its first line; `rest` is what remains for the model to read, perhaps nothing. */
export type ModelDirective =
  | { readonly kind: 'model'; readonly model: string; readonly rest: string }
  | { readonly kind: 'think'; readonly level: string; readonly rest: string };

const DIRECTIVE = /^\/(?<name>model|think)[ \t]+(?<value>\S+)[ \t]*(?:\r?\n(?<rest>[\s\S]*))?$/u;

/** What is left for the model once all that stands in front of it was done or came too late; perhaps nothing. Pure. */
export function textToRead(text: string): string {
  const directive = modelDirective(text);
  return directive ? textToRead(directive.rest) : text;
}

/** Reads `/model PROVIDER/MODEL` and `/think LEVEL`; undefined for any other message. Pure. */
export function modelDirective(text: string): ModelDirective | undefined {
  const { name, value = '', rest = '' } = DIRECTIVE.exec(text.trimStart())?.groups ?? {};
  if (name === 'model') return { kind: 'model', model: value, rest: rest.trim() };
  return name === 'think' ? { kind: 'think', level: value, rest: rest.trim() } : undefined;
}
