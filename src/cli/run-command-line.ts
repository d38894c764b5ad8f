import { CommanderError } from 'commander';
import { commandLineError } from './command-line-error.js';
import { errorLine, printJson } from './display/output.js';
import type { CliContext } from './host/context.js';
import { createProgram } from './program.js';

/** Runs one command line and resolves with its exit status. Prints an error as one line `CODE: message`. Never rejects. */
export async function runCommandLine(argv: readonly string[], context: CliContext): Promise<number> {
  let exitCode = 0;
  const program = createProgram(context, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    const problem = error instanceof CommanderError ? commandLineError(error) : error;
    return problem === undefined ? 0 : reportError(problem, argv, context);
  }
}

function reportError(error: unknown, argv: readonly string[], { output }: CliContext): number {
  const { code, message, exitCode } = errorLine(error);
  if (argv.includes('--json')) printJson(output, { error: { code, message } });
  else if (argv.includes('--events')) printJson(output, { type: 'error', error: { code, message } });
  output.stderr.write(`${code}: ${message}\n`);
  if (argv.includes('--debug') && error instanceof Error) output.stderr.write(`${error.stack ?? ''}\n`);
  return exitCode;
}
