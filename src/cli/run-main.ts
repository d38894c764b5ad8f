import { redirectOutput } from '../worker/hosting/redirect-output.js';
import { Interrupts } from './host/interrupts.js';
import { runCommandLine } from './run-command-line.js';

/** Runs the command line of this process, and resolves with its exit status. Never rejects. */
export async function runMain(): Promise<number> {
  const argv = process.argv.slice(2);
  const interrupts = new Interrupts();
  // stdout is for the results of the command: tools, hooks and the config of the user may log
  const output = redirectOutput();

  // deprecation warnings of libraries appear only with --debug
  process.noDeprecation = !argv.includes('--debug');

  // the reader of stdout closed it (`perdure run … | head`): detach from the run and exit silently
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    interrupts.interrupt('pipe-closed');
  });
  interrupts.listen();
  return await runCommandLine(argv, { output, interrupts, input: process.stdin });
}
