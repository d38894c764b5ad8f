const TITLE_CHARS_MAX = 100;

/** Tools whose title is a verb and the name of a file. */
const FILE_VERBS: ReadonlyMap<string, string> = new Map([
  ['read_file', 'Reading'],
  ['write_file', 'Writing'],
  ['edit_file', 'Editing'],
]);

/** Tools whose title is their command. */
const SHELL_TOOLS: ReadonlySet<string> = new Set(['run_command', 'bash', 'shell']);

/**
 * The title of a tool call: the command of a shell tool, "Reading notes.md" for a file tool, else the tool's name with spaces for
 * underscores. One line of at most 100 characters without control characters, whatever the arguments are. Never throws.
 */
export function toolTitle(name: string, args: unknown): string {
  return oneLine(titleFrom(name, args)) || oneLine(name.replaceAll('_', ' ')) || 'tool';
}

function titleFrom(name: string, args: unknown): string {
  const verb = FILE_VERBS.get(name);
  if (verb !== undefined) return `${verb} ${baseName(textArgument(args, 'path') ?? 'a file')}`;
  if (SHELL_TOOLS.has(name)) return textArgument(args, 'command') ?? '';
  if (name === 'start_command') return `Starting ${textArgument(args, 'command') ?? 'a command'}`;
  if (name === 'list_files') return `Listing ${textArgument(args, 'glob') ?? textArgument(args, 'path') ?? 'files'}`;
  if (name === 'delegate') return `Delegating to ${textArgument(args, 'agent') ?? 'an agent'}`;
  if (name === 'handoff') return `Handing over to ${textArgument(args, 'agent') ?? 'an agent'}`;
  if (name === 'ask_user') return `Asking: ${textArgument(args, 'question') ?? 'a question'}`;
  if (name === 'search_files') return `Searching for ${textArgument(args, 'pattern') ?? 'text'}`;
  return '';
}

function textArgument(args: unknown, key: string): string | undefined {
  if (args === null || typeof args !== 'object' || !Object.hasOwn(args, key)) return undefined;
  const value: unknown = Reflect.get(args, key);
  return typeof value === 'string' ? value : undefined;
}

function baseName(path: string): string {
  return path.split('/').findLast((part) => part !== '') ?? path;
}

/** Replaces control and format characters by spaces, because a right-to-left override could disguise a command. */
function oneLine(text: string): string {
  const clean = text
    .slice(0, TITLE_CHARS_MAX * 10)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  const characters = Array.from(clean);
  return characters.length <= TITLE_CHARS_MAX ? clean : `${characters.slice(0, TITLE_CHARS_MAX - 1).join('')}…`;
}
