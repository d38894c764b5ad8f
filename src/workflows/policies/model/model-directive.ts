/** A command to the run itself in a message, on a line of its own; `rest` is the text behind it, perhaps empty. */
export type ModelDirective =
  | { readonly kind: 'model'; readonly model: string; readonly rest: string }
  | { readonly kind: 'think'; readonly level: string; readonly rest: string };

const DIRECTIVE = /^\/(?<name>model|think)[ \t]+(?<value>\S+)[ \t]*(?:\r?\n(?<rest>[\s\S]*))?$/u;

/**
 * The commands `/model PROVIDER/MODEL` and `/think LEVEL` at the beginning of a message, in order. Empty for any other message. Pure;
 * called once for a message, when it comes in.
 */
export function readDirectives(text: string): readonly ModelDirective[] {
  const directives: ModelDirective[] = [];
  for (let next = firstDirective(text); next; next = firstDirective(next.rest)) directives.push(next);
  return directives;
}

function firstDirective(text: string): ModelDirective | undefined {
  const { name, value = '', rest = '' } = DIRECTIVE.exec(text.trimStart())?.groups ?? {};
  if (name === 'model') return { kind: 'model', model: value, rest: rest.trim() };
  return name === 'think' ? { kind: 'think', level: value, rest: rest.trim() } : undefined;
}
