import { PROCESS_OUTPUT } from './display/output.js';
import { Interrupts } from './host/interrupts.js';
import { runCommandLine } from './run-command-line.js';

const argv = process.argv.slice(2);
const interrupts = new Interrupts();

// stderr is for what a person should know; warnings of libraries about themselves are for --debug
process.noDeprecation = !argv.includes('--debug');

// whoever read our output has gone (`perdure run … | head`): let go of the run and end without a word
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  interrupts.interrupt('pipe-closed');
});
interrupts.listen();

process.exitCode = await runCommandLine(argv, { output: PROCESS_OUTPUT, interrupts });
