import type { Argument, Command, Option } from 'commander';
import { Interrupts } from '../../../src/cli/host/interrupts.js';
import { createProgram } from '../../../src/cli/program.js';
import { markdownTable } from './markdown.js';

/** The generated part of the page about the command line. */
export const CLI_PARTS: Readonly<Record<string, () => string>> = {
  verbs: () => markdownTable(['verb', 'meaning', 'options'], commands().map(verbRow)),
};

/** The generated parts of the page about its options, without an option twice for each verb. */
export const CLI_OPTION_PARTS: Readonly<Record<string, () => string>> = {
  arguments: () => markdownTable(['verbs', 'argument', 'meaning'], argumentRows()),
  options: () => markdownTable(['option', 'verbs', 'meaning'], optionRows()),
};

/** The verbs of the command line, as it defines them. A command that only groups others is none. */
export function commands(): readonly Command[] {
  const verbs = createProgram({ output: process, interrupts: new Interrupts() }, () => undefined).commands;
  return verbs.flatMap((verb) => (verb.commands.length > 0 ? verb.commands : verb));
}

/** The words that call a verb, such as `tool new`. */
function verbName(command: Command): string {
  return command.parent?.parent ? `${command.parent.name()} ${command.name()}` : command.name();
}

/** Options that most verbs have: the verb table leaves them out, and the option table says so. */
const EVERYWHERE: ReadonlySet<string> = new Set(['--address', '--namespace', '--task-queue', '--json']);

function verbRow(command: Command): string[] {
  const options = shownOptions(command).flatMap(({ long }) => (long && !EVERYWHERE.has(long) ? [`\`${long}\``] : []));
  const args = command.registeredArguments.map((argument) => argumentName(argument));
  return [`\`${[verbName(command), ...args].join(' ')}\``, command.description(), options.join(', ') || '·'];
}

function argumentName(argument: Argument): string {
  const name = `${argument.name().toUpperCase()}${argument.variadic ? '…' : ''}`;
  return argument.required ? name : `[${name}]`;
}

/** One row for each argument of the same name and meaning. */
function argumentRows(): string[][] {
  const verbs = grouped(
    commands().flatMap((command) => command.registeredArguments.map((argument) => [command, argument] as const)),
    (argument) => {
      const fallback = argument.defaultValue === undefined ? '' : ` (default: ${String(argument.defaultValue)})`;
      return `${argumentName(argument)}\n${argument.description}${fallback}`;
    },
  );
  return [...verbs].map(([key, names]) => {
    const [name = '', meaning = ''] = key.split('\n');
    return [names.map((verb) => `\`${verb}\``).join(', '), `\`${name}\``, meaning];
  });
}

/** One row for each option of the same flags and meaning. */
function optionRows(): string[][] {
  const verbs = grouped(
    commands().flatMap((command) => shownOptions(command).map((option) => [command, option] as const)),
    (option) => {
      return `${option.flags}\n${option.description}`;
    },
  );
  const rows = [...verbs].map(([key, names]) => {
    const [flags = '', meaning = ''] = key.split('\n');
    const isCommon = EVERYWHERE.has(flags.split(' ')[0] ?? '');
    const without = commands().flatMap((command) => (names.includes(verbName(command)) ? [] : [`\`${verbName(command)}\``]));
    return [`\`${flags}\``, isCommon ? `all but ${without.join(', ')}` : names.map((verb) => `\`${verb}\``).join(', '), meaning];
  });
  return [...rows, ['`--debug`', 'all', 'show stack traces of errors']];
}

function shownOptions(command: Command): Option[] {
  return command.options.filter(({ hidden }) => !hidden);
}

function grouped<Item>(items: readonly (readonly [Command, Item])[], keyOf: (item: Item) => string): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [command, item] of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), verbName(command)]);
  return groups;
}
