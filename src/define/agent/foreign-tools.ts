/** The names that other agents have for the built-in tools. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['Read', 'read_file'],
  ['Write', 'write_file'],
  ['Edit', 'edit_file'],
  ['MultiEdit', 'edit_file'],
  ['LS', 'list_files'],
  ['Glob', 'list_files'],
  ['Grep', 'search_files'],
  ['Bash', 'run_command'],
  ['Skill', 'read_skill'],
  ['TodoWrite', 'update_plan'],
]);

/** Tool names of a file that was written for another agent. */
export interface TranslatedTools {
  /** Known names, each once. */
  readonly names: readonly string[];
  /** Names without a tool here, as written. */
  readonly unknown: readonly string[];
}

/**
 * Translates tool names such as `Read` and `Bash`. A name with a restriction, such as `Bash(git *)`, is unknown: the tool without it could
 * do more. Never throws.
 */
export function translateTools(given: readonly string[], known: readonly string[]): TranslatedTools {
  const names = new Set<string>();
  const unknown: string[] = [];
  for (const name of given) {
    const translated = known.includes(name) ? name : NAMES.get(name);
    if (translated !== undefined && known.includes(translated)) names.add(translated);
    else unknown.push(name);
  }
  return { names: [...names], unknown };
}

/** Splits names at spaces and commas, not within parentheses: `Read, Bash(git diff:*)`. Takes linear time. Never throws. */
export function splitNames(text: string): string[] {
  const names: string[] = [];
  let depth = 0;
  let name = '';
  for (const character of text) {
    if (character === '(') depth += 1;
    if (character === ')') depth = Math.max(0, depth - 1);
    if (depth > 0 || !/[\s,]/u.test(character)) name += character;
    else {
      if (name !== '') names.push(name);
      name = '';
    }
  }
  return name === '' ? names : [...names, name];
}
