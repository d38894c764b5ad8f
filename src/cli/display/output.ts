import { Writable } from 'node:stream';
import { PerdureError } from '../../contracts/perdure-error.js';
import { terminalJson, terminalLine, terminalText } from './terminal-text.js';

/** The output streams of a command: results go to stdout, everything else to stderr. Tests pass their own streams. */
export interface Output {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream & { readonly columns?: number; readonly rows?: number };
}

/** A stream to write text to. */
export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** Where notices are printed now. It changes while rows at the bottom of a terminal are replaced: a notice is printed above them. */
export interface Voice {
  say: (line: string) => void;
}

/** Prints a result as text on stdout, made safe for terminals. `inPlace`: a terminal is cleared first; elsewhere an empty line comes first. */
export function printText(output: Output, text: string, { inPlace = false }: { readonly inPlace?: boolean } = {}): void {
  const safe = terminalText(text);
  const before = output.stdout.isTTY ? CLEARED : '\n';
  output.stdout.write(`${inPlace ? before : ''}${safe.endsWith('\n') ? safe : `${safe}\n`}`);
}

/** Moves to the top left and clears the screen, not its history. */
const CLEARED = '\u001b[H\u001b[J';

/** Prints one JSON document on one line. */
export function printJson(output: Output, value: unknown): void {
  output.stdout.write(`${terminalJson(value)}\n`);
}

/** Prints a notice as one line on stderr. */
export function say(output: Output, line: string): void {
  output.stderr.write(`${terminalLine(line)}\n`);
}

/** The stdout of a command that speaks a protocol. What other code of this process prints goes to stderr, so it cannot break the protocol. */
export function ownStdout({ stdout }: Output): Writable {
  return new Writable({
    decodeStrings: false,
    write(text: string, _encoding, done) {
      if (stdout.write(text) === false) process.stdout.once('drain', () => done());
      else done();
    },
  });
}

/** The code, the message and the exit status of an error. An unexpected error has code `INTERNAL` and exit status 1. */
export function errorLine(error: unknown): { readonly code: string; readonly message: string; readonly exitCode: number } {
  if (error instanceof PerdureError) return { code: error.code, message: terminalLine(error.message), exitCode: error.exitCode };
  const message = error instanceof Error ? error.message : String(error);
  if (/^ENOSPC\b/u.test(message))
    return { code: 'DISK_FULL', message: `${terminalLine(message)}. Free space, and repeat the command.`, exitCode: 1 };
  return { code: 'INTERNAL', message: `${terminalLine(message)} (run with --debug for a stack trace)`, exitCode: 1 };
}
