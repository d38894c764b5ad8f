import { STEER_LIMITS } from '../../../contracts/constants/limits.js';

/** A command in a message, on its own line. `rest`: the text after it, which may be empty. */
export type ModelDirective =
  | { readonly kind: 'model'; readonly model: string; readonly rest: string }
  | { readonly kind: 'think'; readonly level: string; readonly rest: string };

const DIRECTIVE = /\s*\/(?<name>model|think)[ \t]+(?<value>\S+)[ \t]*(?:\r?\n|$)/uy;

/**
 * The commands `/model PROVIDER/MODEL` and `/think LEVEL` at the beginning of a message, in order, at most
 * `STEER_LIMITS.directivesReadMax`. Empty for any other message. A line with other text is not a command. Takes time in proportion to
 * the text. Pure.
 */
export function readDirectives(text: string): readonly ModelDirective[] {
  const directives: ModelDirective[] = [];
  const end = text.trimEnd().length;
  DIRECTIVE.lastIndex = 0;
  while (directives.length < STEER_LIMITS.directivesReadMax) {
    const { name, value = '' } = DIRECTIVE.exec(text)?.groups ?? {};
    if (name === undefined) break;
    const rest = text.slice(DIRECTIVE.lastIndex, end).trimStart();
    directives.push(name === 'model' ? { kind: 'model', model: value, rest } : { kind: 'think', level: value, rest });
  }
  return directives;
}

/** The commands that a run applies: a few. What follows them is text. Pure. */
export function limitDirectives(directives: readonly ModelDirective[]): readonly ModelDirective[] {
  return directives.slice(0, STEER_LIMITS.directivesMax);
}
