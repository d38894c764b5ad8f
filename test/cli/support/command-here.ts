import { Writable } from 'node:stream';
import { Interrupts } from '../../../src/cli/host/interrupts.js';
import { runCommandLine } from '../../../src/cli/run-command-line.js';
import type { CommandEnd } from './cli.js';

/** Carries a command out in this process. */
export async function commandHere(...args: readonly string[]): Promise<CommandEnd> {
  const texts = { stdout: '', stderr: '' };
  const collect = (name: 'stdout' | 'stderr'): Writable =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        texts[name] += chunk.toString();
        done();
      },
    });
  const output = { stdout: collect('stdout'), stderr: collect('stderr') };
  const code = await runCommandLine(args, { output, interrupts: new Interrupts() });
  return { code, ...texts };
}
