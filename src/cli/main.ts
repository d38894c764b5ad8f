import { CommanderError } from 'commander';
import { Interrupts } from './interrupts.js';
import { errorLine, PROCESS_OUTPUT, printJson } from './output.js';
import { commandLineError, createProgram } from './program.js';

const interrupts = new Interrupts();
const output = PROCESS_OUTPUT;

/** Runs one command line; gives the exit status of the process. Never throws. */
async function main(argv: readonly string[]): Promise<number> {
  let exitCode = 0;
  const program = createProgram({ output, interrupts }, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    const problem = error instanceof CommanderError ? commandLineError(error) : error;
    return problem === undefined ? 0 : tellError(problem, argv);
  }
}

function tellError(error: unknown, argv: readonly string[]): number {
  const { code, message, exitCode } = errorLine(error);
  if (argv.includes('--json')) printJson(output, { error: { code, message } });
  else if (argv.includes('--events')) printJson(output, { type: 'error', error: { code, message } });
  output.stderr.write(`${code}: ${message}\n`);
  if (argv.includes('--debug') && error instanceof Error) output.stderr.write(`${error.stack ?? ''}\n`);
  return exitCode;
}

// whoever read our output has gone (`perdure run … | head`): let go of the run and end without a word
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  interrupts.interrupt('pipe-closed');
});
interrupts.listen();

process.exitCode = await main(process.argv.slice(2));
