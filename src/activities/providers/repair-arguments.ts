import { jsonrepair } from 'jsonrepair';

/** Longer texts, and texts of more values, are refused as they are: the library needs time in the square of what it puts in. */
const REPAIR_CHARS_MAX = 256 * 1_024;
const REPAIR_VALUES_MAX = 2_000;

/**
 * JSON from a text that is almost JSON: literal line breaks in strings, closing brackets that are missing or too many, trailing
 * commas, code fences, single quotes, bare keys, Python's True, False and None. Undefined when more than form is missing: a repair
 * never adds, drops or changes a value, and never completes one that was cut. Never throws.
 */
export function repairArguments(text: string): string | undefined {
  if (text.length > REPAIR_CHARS_MAX) return undefined;
  const meant = valuesIn(text);
  if (!meant || !endsWithValue(meant) || ENDS_OPEN.test(text)) return undefined;
  const repaired = repair(text);
  const kept = repaired === undefined ? undefined : valuesIn(repaired);
  return kept && contentOf(kept) === contentOf(meant) ? repaired : undefined;
}

function repair(text: string): string | undefined {
  try {
    return jsonrepair(text);
  } catch (error) {
    // its own error, or a stack overflow by endless brackets
    if (error instanceof Error) return undefined;
    throw error;
  }
}

interface Token {
  readonly kind: 'string' | 'key' | 'number' | 'word' | 'colon' | 'close';
  /** As JSON. */
  readonly content: string;
}

/** After a last comma or opening bracket something was to follow. */
const ENDS_OPEN = /[,[{]\s*(?:```\s*)?$/u;

/** An unfinished string, an escape that JSON does not know, a number with a wrong end or a bare word match nothing here. */
const TOKENS =
  /(?<skip>\s+|,|[{[]|```[a-zA-Z]*)|(?<close>[}\]])|(?<colon>:)|(?<string>"(?:[^"\\]|\\(?:["'\\/bfnrt]|u[\da-fA-F]{4}))*"|'(?:[^'\\]|\\(?:["'\\/bfnrt]|u[\da-fA-F]{4}))*')|(?<key>[a-zA-Z_$][\w$]*(?=\s*:))|(?<word>(?:true|false|null|True|False|None)(?![\w$]))|(?<number>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w$.+-]))/uy;

const WORDS: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' };

/** The values of a text in their order, whatever brackets and commas stand between them; undefined when something in it is neither. */
function valuesIn(text: string): readonly Token[] | undefined {
  const tokens: Token[] = [];
  const pattern = new RegExp(TOKENS);
  while (pattern.lastIndex < text.length) {
    const groups = pattern.exec(text)?.groups;
    if (!groups || tokens.length > REPAIR_VALUES_MAX) return undefined;
    const token = toToken(groups);
    if (token) tokens.push(token);
  }
  return tokens;
}

function toToken({ close, colon, string, key, word, number }: Readonly<Record<string, string | undefined>>): Token | undefined {
  if (close !== undefined) return { kind: 'close', content: '' };
  if (colon !== undefined) return { kind: 'colon', content: colon };
  if (string !== undefined) return { kind: 'string', content: JSON.stringify(unquote(string)) };
  if (key !== undefined) return { kind: 'key', content: JSON.stringify(key) };
  if (word !== undefined) return { kind: 'word', content: WORDS[word] ?? word };
  return number === undefined ? undefined : { kind: 'number', content: number };
}

/** What a quoted text means, with either quote and with literal line breaks. */
function unquote(quoted: string): unknown {
  const inner = quoted.slice(1, -1).replaceAll(/\\.|[\p{Cc}"]/gu, (piece) => {
    if (piece.length === 1) return JSON.stringify(piece).slice(1, -1);
    return piece === "\\'" ? "'" : piece;
  });
  return JSON.parse(`"${inner}"`);
}

/** A last number may be the half of a longer one; after a last colon something was to follow. */
function endsWithValue(tokens: readonly Token[]): boolean {
  const last = tokens.at(-1)?.kind;
  return last === 'string' || last === 'word' || last === 'close';
}

function contentOf(tokens: readonly Token[]): string {
  const values = tokens.filter(({ kind }) => kind !== 'close');
  return values.map(({ content }) => content).join(' ');
}
