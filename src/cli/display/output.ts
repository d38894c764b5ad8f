import { PerdureError } from '../../contracts/perdure-error.js';
import { terminalJson, terminalLine, terminalText } from './terminal-text.js';

/** Where a command writes: results to stdout, everything else to stderr. Tests give their own. */
export interface Output {
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
}

/** The process's own streams. */
export const PROCESS_OUTPUT: Output = process;

/** Prints a result for a person, made safe for terminals. */
export function printText(output: Output, text: string): void {
  const safe = terminalText(text);
  output.stdout.write(safe.endsWith('\n') ? safe : `${safe}\n`);
}

/** Prints one JSON document on one line. */
export function printJson(output: Output, value: unknown): void {
  output.stdout.write(`${terminalJson(value)}\n`);
}

/** Tells a person on stderr, on one line. */
export function say(output: Output, line: string): void {
  output.stderr.write(`${terminalLine(line)}\n`);
}

/** An error as one line `CODE: message`, and the exit status it asks for. A defect of ours is code `INTERNAL`, exit 1. */
export function errorLine(error: unknown): { readonly code: string; readonly message: string; readonly exitCode: number } {
  if (error instanceof PerdureError) return { code: error.code, message: terminalLine(error.message), exitCode: error.exitCode };
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'INTERNAL', message: `${terminalLine(message)} (--debug shows where)`, exitCode: 1 };
}
