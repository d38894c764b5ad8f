import { readFileSync } from 'node:fs';

/** A doc comment: its sentences, and the text behind `@default`. */
export interface DocComment {
  readonly text: string;
  readonly defaultText?: string;
}

/** A field of an interface, as its source writes it. */
export interface InterfaceField {
  readonly name: string;
  readonly type: string;
  readonly isOptional: boolean;
}

/**
 * Doc comments of one source file, so that editors and docs show the same sentence.
 *
 * They are read from the text: TypeScript 7 has no JavaScript API for syntax trees, and editors do not show zod's metadata. The formatter
 * keeps the text regular (a comment, then its field on the next line), and a field without a comment is an error.
 */
export class DocComments {
  readonly #file: string;
  readonly #source: string;

  /** `file` is a path below `src/`. */
  constructor(file: string) {
    this.#file = file;
    this.#source = readFileSync(new URL(`../../../src/${file}`, import.meta.url), 'utf8');
  }

  /** The comment of a declaration. Throws when there is none. */
  of(declaration: string): DocComment {
    const pattern = new RegExp(`${COMMENT}(?:export )?(?:const|interface|type|function|class) ${declaration}\\b`, 'u');
    return this.#comment(pattern.exec(this.#source) ?? undefined, declaration);
  }

  /**
   * The comment of a field, in the first of some declarations that has one: an object that is spread into another keeps its comments.
   * Throws when none has one.
   */
  ofField(declarations: readonly string[], field: string): DocComment {
    const pattern = new RegExp(`${COMMENT}(?:readonly )?'?${field.replaceAll('.', '\\.')}'?(?:\\?|: |,|\\()`, 'u');
    const found = declarations.map((declaration) => pattern.exec(this.#block(declaration))).find((match) => match !== null);
    return this.#comment(found, `${declarations.join(' or ')}.${field}`);
  }

  /** The comment of an event of the union of events. Throws when there is none. */
  ofVariant(declaration: string, type: string): DocComment {
    const pattern = new RegExp(`${COMMENT}\\| \\{\\s*type: '${type.replaceAll('.', '\\.')}'`, 'u');
    return this.#comment(pattern.exec(this.#block(declaration)) ?? undefined, `${declaration} ${type}`);
  }

  /** The source of a declaration, without its own comment. Throws for an unknown one. */
  #block(declaration: string): string {
    const start = new RegExp(`^(?:export )?(?:const|interface|type|class) ${declaration}\\b`, 'mu').exec(this.#source)?.index;
    if (start === undefined) throw new Error(`src/${this.#file} has no declaration ${declaration}`);
    const rest = this.#source.slice(start);
    return rest.slice(0, /^(?:\/\*\*|export |const |type )/mu.exec(rest.slice(1))?.index ?? rest.length);
  }

  /** The fields of an interface, in their order; methods are fields with the type of a function. */
  fieldsOf(declaration: string): InterfaceField[] {
    return [...this.#block(declaration).matchAll(FIELD)].map(({ groups = {} }) => ({
      name: groups['name'] ?? '',
      type: (groups['type'] ?? (groups['method'] ?? '').replace('): ', ') => ')).replaceAll('readonly ', ''),
      isOptional: groups['optional'] !== undefined,
    }));
  }

  /** The variants of a union of objects with a `type`, each with its fields as TypeScript writes them. */
  variantsOf(declaration: string): [type: string, fields: string[]][] {
    const plain = this.#block(declaration).replaceAll(/\/\*\*.*?\*\//gsu, '');
    return [...plain.matchAll(/\| \{\s*type: '(?<type>[\w.]+)';?(?<fields>(?:\{[^}]*\}|[^{}])*)\}/gu)].map(
      ({ groups: { type = '', fields = '' } = {} }) => [type, fields.split(/;(?![^{]*\})/u).flatMap((field) => field.trim() || [])],
    );
  }

  #comment(match: RegExpExecArray | undefined, name: string): DocComment {
    const lines = match?.groups?.['comment']?.replaceAll(/\s*\n\s*\*\s?/gu, ' ').trim();
    if (lines === undefined) throw new Error(`${name} in src/${this.#file} has no doc comment`);
    const [text = '', defaultText] = lines.split('@default ');
    return { text: text.trim(), ...(defaultText === undefined ? {} : { defaultText: defaultText.trim() }) };
  }
}

/** A doc comment right before the rest of a pattern: it does not contain the end of another comment. */
const COMMENT = String.raw`/\*\*(?<comment>(?:(?!\*/)[\s\S])*)\*/\n\s*`;

const FIELD = /^ {2}(?:readonly )?(?<name>\w+)(?<optional>\?)?(?:: (?<type>.+);|(?<method>\(.*\): .+);)$/gmu;
