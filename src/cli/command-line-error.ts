import type { CommanderError } from 'commander';
import { PerdureError } from '../contracts/perdure-error.js';

/** Converts an error of the argument parser into a PerdureError (exit 2). Undefined after `--help` and `--version`. */
export function commandLineError(error: CommanderError): PerdureError | undefined {
  if (error.exitCode === 0) return undefined;
  const [what = '', hint] = error.message.replace(/^error: /u, '').split('\n');
  const code = COMMAND_LINE_CODES[error.code] ?? 'BAD_USAGE';
  const quoted = /'(?<name>[^']+)'/u.exec(what)?.groups?.name;
  const text = quoted !== undefined && code.startsWith('UNKNOWN') ? quoted.slice(0, 80) : what.replace(/\. Expected .*$/u, '');
  const help = error.code === 'commander.help' ? "no command given. Run 'perdure --help' for a list." : text;
  const near = hint === undefined ? (HELP_HINTS[code] ?? '') : ` ${hint.replace('(Did', '(did')}`;
  return new PerdureError(code, `${help}${near}${error.code === 'commander.excessArguments' ? '. Put the text in quotes.' : ''}`, 2);
}

/** The advice for an unknown name without a similar one. */
const HELP_HINTS: Readonly<Record<string, string>> = {
  UNKNOWN_VERB: ". Run 'perdure --help' for a list of commands.",
  UNKNOWN_OPTION: '. Run the command with --help for a list of options.',
};

const COMMAND_LINE_CODES: Readonly<Record<string, string>> = {
  'commander.unknownOption': 'UNKNOWN_OPTION',
  'commander.unknownCommand': 'UNKNOWN_VERB',
  'commander.missingArgument': 'MISSING_ARGUMENT',
  'commander.optionMissingArgument': 'BAD_OPTION',
  'commander.excessArguments': 'BAD_USAGE',
};
