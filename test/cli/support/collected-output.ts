import { Writable } from 'node:stream';

/** The streams that a command writes to, and what it wrote to each so far. */
export interface CollectedOutput {
  readonly output: { readonly stdout: Writable; readonly stderr: Writable };
  readonly texts: { readonly stdout: string; readonly stderr: string };
}

/** Streams that keep what is written to them. */
export function collectedOutput(): CollectedOutput {
  const texts = { stdout: '', stderr: '' };
  const collect = (name: 'stdout' | 'stderr'): Writable =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        texts[name] += chunk.toString();
        done();
      },
    });
  return { output: { stdout: collect('stdout'), stderr: collect('stderr') }, texts };
}
