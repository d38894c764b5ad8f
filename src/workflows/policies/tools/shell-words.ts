import { WORKSPACE_LIMITS } from '../../../contracts/constants/limits.js';

/** Programs that run commands from their arguments, a file or their input. */
const SHELLS: ReadonlySet<string> = new Set('sh bash dash zsh ksh csh tcsh fish ash busybox eval source .'.split(' '));

/** Programs that run their arguments as a command, or change the meaning of a later word. */
const RUNNERS: ReadonlySet<string> = new Set(
  (
    'exec command builtin trap alias coproc export declare local readonly set awk gawk env sudo doas su xargs parallel nohup setsid ' +
    'nice ionice time timeout stdbuf watch chroot unshare nsenter ssh script setarch strace gdb flock setpriv runuser pkexec taskset ' +
    'chrt prlimit fakeroot systemd-run'
  ).split(' '),
);

/** Programs that run the program text of an option. */
const INTERPRETERS = /^(?:python|pypy|node|nodejs|deno|bun|perl|ruby|php|lua|Rscript|osascript|pwsh)[0-9.]*$/u;
const PROGRAM_TEXT = /^(?:-[A-Za-z]*[cepEr]|--?(?:eval|print|command|run)(?:=.*)?)$/su;
/** The program text may directly follow the option letter. It then contains a character that values of other options do not. */
const TEXT_OPTION = /^-[A-Za-z]*?[cepEr]./su;
const BEYOND_VALUES = /[^\w./:=,-]/u;

/** Arguments with which `find` and similar programs run other programs. */
const RUNS_OTHERS = /^-(?:exec|execdir|ok|okdir)$/u;

/** Words that may precede a program: shell keywords, assignments and redirections. */
const BEFORE_PROGRAM =
  /^(?:(?:if|then|else|elif|while|until|do|!|[{]|function\s+\S+|[A-Za-z_]\w*(?:\[\S*?\])?\+?=\S*|\d*[<>]+-?\s*\S+)\s+)+/u;

/** Characters that are literal outside of quotes. Any other may have a meaning in a shell. */
const PLAIN = /[A-Za-z0-9_\-./,:=@%+]/u;
const COMMAND_WORD = /^[A-Za-z0-9_./+-]+$/u;

/**
 * The words of a command that runs exactly one program with exactly these arguments in any shell; undefined for any other command. Not
 * simple are separators, substitutions, redirections, variables, globs, escapes, line breaks, assignments in front, unclosed quotes, and
 * programs that run other programs. Never throws.
 */
export function simpleCommandWords(command: string): string[] | undefined {
  const words = plainWords(command);
  const [program] = words ?? [];
  if (words === undefined || program === undefined) return undefined;
  const name = baseName(program);
  if (!COMMAND_WORD.test(program) || runsOthers(name)) return undefined;
  const runsText = INTERPRETERS.test(name) && words.some(isProgramText);
  return runsText || words.some((word) => RUNS_OTHERS.test(word)) ? undefined : words;
}

/** A parsed command, for all rules of a gate. */
export interface ReadCommand {
  /** The words of a simple command; undefined for any other. */
  readonly simple: readonly string[] | undefined;
  /**
   * True when the command may run a program with `words` as its first words. For rules that block or ask, so in doubt it is true. True also
   * for a command whose program cannot be determined.
   */
  readonly mayRun: (words: readonly string[]) => boolean;
}

/** Parses a command. Never throws. */
export function readCommand(command: string): ReadCommand {
  // longer than any command that can run: it is not parsed, to save time
  if (command.length > WORKSPACE_LIMITS.commandCharsMax) return { simple: undefined, mayRun: () => true };
  const simple = simpleCommandWords(command);
  if (simple) return { simple, mayRun: (words) => startsAt(simple, 0, words) };
  if (hidesPrograms(command)) return { simple, mayRun: () => true };
  const bare = bareWords(command);
  return {
    simple,
    mayRun: (words) => {
      const wanted = bareWords(words.join(' '));
      return bare.some((_, at) => startsAt(bare, at, wanted));
    },
  };
}

function plainWords(command: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < command.length; at += 1) {
    const character = command[at] ?? '';
    if (character === ' ' || character === '\t') {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === '"' || character === "'") {
      const quoted = quotedAt(command, at);
      if (quoted === undefined) return undefined;
      word = (word ?? '') + quoted;
      at += quoted.length + 1;
    } else {
      if (!PLAIN.test(character)) return undefined;
      word = (word ?? '') + character;
    }
  }
  return word === undefined ? words : [...words, word];
}

/** The text between the quotes that open at `start`; undefined when they are unclosed, or a shell would expand the text. */
function quotedAt(command: string, start: number): string | undefined {
  const quote = command[start] ?? '';
  const end = command.indexOf(quote, start + 1);
  if (end === -1) return undefined;
  const text = command.slice(start + 1, end);
  const changes = quote === '"' ? /[$`\\!\p{Cc}]/u : /\p{Cc}/u;
  return changes.test(text) ? undefined : text;
}

/** All words of a command without quotes and escapes, split at every character that may separate commands. */
function bareWords(command: string): string[] {
  return command
    .replaceAll(/\\\r?\n|["'\\]|\$[*@]|\$\{[*@]?\}/gu, '')
    .split(/[\s;&|<>(){}`$!,=]+/u)
    .filter((word) => word !== '');
}

/** True when a program cannot be determined: its name is computed, or a shell gets commands that are not in the text. */
function hidesPrograms(command: string): boolean {
  if (quotedAtOdds(command)) return true;
  const computes = /[$`]/u.test(command);
  return segmentsOf(withoutQuotes(command)).some(({ text, fed }) => {
    const program = text.trimStart().replace(BEFORE_PROGRAM, '').split(/\s+/u)[0] ?? '';
    if (/^[A-Za-z_]\w*=/u.test(program)) return false;
    if (/[$`*?[\]{}~]/u.test(program)) return true;
    const name = baseName(program);
    return (runsOthers(name) && computes) || (SHELLS.has(name) && (fed || text.includes('<')));
  });
}

/**
 * The command with each quoted text as one word without its quotes. Only what the shell itself expands can separate or expand in it, so
 * that a quoted blank or semicolon does not hide the position of a program.
 */
function withoutQuotes(command: string): string {
  const substitutes = /\$\(|`/u.test(command);
  const expanding = substitutes ? /[\s;&|<>*?[\]{}~]/gu : /[\s;&|<>*?[\]{}~()]/gu;
  const flat = command.replaceAll(QUOTED, (whole, escaped?: string, single?: string, double?: string) => {
    if (escaped !== undefined) return /^[\r\n]/u.test(escaped) ? '' : escaped.replace(/\W/u, '_');
    if (single !== undefined) return single.replaceAll(/[^\w./+-]/gu, '_');
    return double === undefined ? whole : double.replaceAll(/\\./gsu, '_').replaceAll(expanding, '_');
  });
  // `>&` and `>|` separate no commands
  return flat.replaceAll(/([<>])[&|]/gu, '$1');
}

/** An escaped character, or the text between quotes of either kind. */
const QUOTED = /\\(\r\n|[^])|'([^']*)'|"((?:\\[^]|[^"\\])*)"/gu;

/** The segments between separators. `fed`: a pipe is its input. */
function segmentsOf(command: string): { readonly text: string; readonly fed: boolean }[] {
  const pieces = command.split(/([;&|\n()`]+)/u);
  return pieces.flatMap((text, at) => (at % 2 === 0 ? [{ text, fed: pieces[at - 1]?.includes('|') ?? false }] : []));
}

function quotedAtOdds(command: string): boolean {
  const bare = command.replaceAll(/\\./gsu, '').replaceAll(/'[^']*'|"[^"]*"/gu, '');
  return /["']/u.test(bare);
}

function startsAt(words: readonly string[], at: number, wanted: readonly string[]): boolean {
  return wanted.every((word, offset) => {
    const given = words[at + offset];
    return given === word || (offset === 0 && given !== undefined && baseName(given) === word);
  });
}

function isProgramText(word: string): boolean {
  return PROGRAM_TEXT.test(word) || (TEXT_OPTION.test(word) && BEYOND_VALUES.test(word));
}

function runsOthers(program: string): boolean {
  return SHELLS.has(program) || RUNNERS.has(program);
}

/** The name of a program without its path: `rm` for `/bin/rm` and `./rm`. */
function baseName(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1);
}
