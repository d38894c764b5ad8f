/** A command in a message, on its own line. `rest`: the text after it, which may be empty. */
export type ModelDirective =
  | { readonly kind: 'model'; readonly model: string; readonly rest: string }
  | { readonly kind: 'think'; readonly level: string; readonly rest: string };

const DIRECTIVE = /^\/(?<name>model|think)[ \t]+(?<value>\S+)[ \t]*(?:\r?\n(?<rest>[\s\S]*))?$/u;

/**
 * The commands `/model PROVIDER/MODEL` and `/think LEVEL` at the beginning of a message, in order. Empty for any other message. A line with
 * other text is not a command. Pure.
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
