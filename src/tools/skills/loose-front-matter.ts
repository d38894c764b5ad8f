/** A line `key: value` or `key:` that begins at the margin. */
const LINE = /^(?<key>[A-Za-z][\w-]*):(?:[ \t]+(?<value>\S.*))?$/u;

const FRONT_MATTER = /^---[ \t]*\n(?<options>.*?)\n---[ \t]*(?:\n|$)/su;

/** A text that YAML reads as it stands: no mark at its beginning, no mapping or comment in it, and no number, date, boolean or null. */
const PLAIN = /^[A-Za-z](?:[^:#]|:(?=\S)|(?<=\S)#)*$/u;
const NOT_TEXT = /^(?:true|false|null|yes|no|on|off)$/iu;

const QUOTED = /^(?:'(?<single>[^']*)'|"(?<double>[^"\\]*)")$/u;

/** A list of plain words, such as `[git, code-review]`. */
const WORDS = /^\[[ \t]*(?<words>[A-Za-z][\w-]*(?:[ \t]*,[ \t]*[A-Za-z][\w-]*)*)[ \t]*\]$/u;

/** The options of a skill that have an effect. */
const USED = new Set(['name', 'description', 'allowed-tools', 'keywords', 'tags']);

/** What a line belongs to: the option above it, in the margin or further right. */
const CONTINUED = /^(?:[ \t]|-[ \t]|#|$)/u;

/**
 * The options of a simple front matter that have an effect, as YAML reads them, in a twentieth of its time. Other options are skipped, with
 * the lines that belong to them. Undefined for a front matter that needs YAML. Never throws.
 */
export function readPlainOptions(text: string): Readonly<Record<string, unknown>> | undefined {
  const options = new Map<string, unknown>();
  const seen = new Set<string>();
  let above = '';
  for (const line of linesOf(text)) {
    const { key, value } = LINE.exec(line)?.groups ?? {};
    if (key === undefined) {
      // the rest of a longer text, or keywords of `metadata`
      const isUsed = above === '' || USED.has(above) || (above === 'metadata' && line.includes('keywords'));
      if (!CONTINUED.test(line) || (isUsed && !/^(?:#|[ \t]*$)/u.test(line))) return undefined;
      continue;
    }
    if (seen.has(key) || (key === 'metadata' && value !== undefined)) return undefined;
    seen.add(key);
    above = key;
    if (!USED.has(key)) continue;
    const read = value === undefined ? undefined : plainValue(value.trimEnd());
    if (read === undefined) return undefined;
    options.set(key, read);
  }
  return options.size === 0 ? undefined : Object.fromEntries(options);
}

function plainValue(value: string): string | readonly string[] | undefined {
  const { single, double } = QUOTED.exec(value)?.groups ?? {};
  const quoted = single ?? double;
  if (quoted !== undefined) return quoted;
  const words = WORDS.exec(value)
    ?.groups?.['words']?.split(',')
    .map((word) => word.trim());
  if (words) return words.some((word) => NOT_TEXT.test(word)) ? undefined : words;
  return PLAIN.test(value) && !NOT_TEXT.test(value) ? value : undefined;
}

/**
 * The options of a front matter that is not valid YAML, line by line: published skills have descriptions with an unquoted colon. Undefined
 * without a description. Never throws.
 */
export function readLooseOptions(text: string): Readonly<Record<string, unknown>> | undefined {
  const options = new Map<string, string>();
  for (const line of linesOf(text)) {
    const { key, value } = LINE.exec(line)?.groups ?? {};
    if (key === undefined || value === undefined) continue;
    // a key that is defined twice is ambiguous
    if (options.has(key)) return undefined;
    options.set(key, value.trim());
  }
  return options.has('description') ? Object.fromEntries(options) : undefined;
}

function linesOf(text: string): readonly string[] {
  return FRONT_MATTER.exec(text)?.groups?.['options']?.split('\n') ?? [];
}
