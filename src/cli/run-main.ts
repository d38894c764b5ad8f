import { redirectOutput } from '../worker/hosting/redirect-output.js';
import { type InterruptKind, Interrupts } from './host/interrupts.js';
import { runCommandLine } from './run-command-line.js';

/** The errors of a stream whose other end is closed. */
const CLOSED: Readonly<Record<string, InterruptKind>> = { EPIPE: 'pipe-closed', EIO: 'hang-up' };

/** Runs the command line of this process, and resolves with its exit status. Never rejects. */
export async function runMain(): Promise<number> {
  const argv = process.argv.slice(2);
  const interrupts = new Interrupts();
  // stdout is for the results of the command: tools, hooks and the config of the user may log
  const output = redirectOutput();

  // deprecation warnings of libraries appear only with --debug
  process.noDeprecation = !argv.includes('--debug');

  // a reader closed its end (`perdure run … | head`), or the terminal is gone: detach from the run and exit silently
  const onError = (error: NodeJS.ErrnoException): void => {
    const kind = CLOSED[error.code ?? ''];
    if (kind === undefined) throw error;
    interrupts.interrupt(kind);
  };
  for (const stream of [process.stdout, process.stderr, process.stdin]) stream.on('error', onError);
  interrupts.listen({ hasTerminal: process.stdout.isTTY || process.stderr.isTTY });
  return await runCommandLine(argv, { output, interrupts, input: process.stdin });
}
