import type { Argument, Command, Option } from 'commander';
import { Interrupts } from '../../../src/cli/host/interrupts.js';
import { createProgram } from '../../../src/cli/program.js';
import { markdownTable } from './markdown.js';

/** The generated parts of the page about the command line: as many tables as a reader needs, without an option twice for each verb. */
export const CLI_PARTS: Readonly<Record<string, () => string>> = {
  verbs: () => markdownTable(['verb', 'meaning', 'options'], commands().map(verbRow)),
  arguments: () => markdownTable(['verbs', 'argument', 'meaning'], argumentRows()),
  options: () => markdownTable(['option', 'verbs', 'meaning'], optionRows()),
};

/** The verbs of the command line, as it defines them. */
export function commands(): readonly Command[] {
  return createProgram({ output: process, interrupts: new Interrupts() }, () => undefined).commands;
}

/** Options that most verbs have: the verb table leaves them out, and the option table says so. */
const EVERYWHERE: ReadonlySet<string> = new Set(['--address', '--namespace', '--task-queue', '--json']);

function verbRow(command: Command): string[] {
  const options = shownOptions(command).flatMap(({ long }) => (long && !EVERYWHERE.has(long) ? [`\`${long}\``] : []));
  const args = command.registeredArguments.map((argument) => argumentName(argument));
  return [`\`${[command.name(), ...args].join(' ')}\``, command.description(), options.join(', ') || '·'];
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
    const without = commands().flatMap((command) => (names.includes(command.name()) ? [] : [`\`${command.name()}\``]));
    return [`\`${flags}\``, isCommon ? `all but ${without.join(', ')}` : names.map((verb) => `\`${verb}\``).join(', '), meaning];
  });
  return [...rows, ['`--debug`', 'all', 'show stack traces of errors']];
}

function shownOptions(command: Command): Option[] {
  return command.options.filter(({ hidden }) => !hidden);
}

function grouped<Item>(items: readonly (readonly [Command, Item])[], keyOf: (item: Item) => string): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [command, item] of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), command.name()]);
  return groups;
}
