import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** The program that a variable names. There is no other way to run these tests, so it throws without, and says how to get one. */
export function namedProgram(variable: string, what: string, install: string): string {
  const named = process.env[variable];
  if (named) return named;
  throw new Error(`${variable}: name ${what} (${install})`);
}

/** Whether a server answers yet, with success or with this status. Throws when its process is gone: it never will. */
export async function answersAt(url: string, process: ChildProcess, status?: number): Promise<boolean> {
  if (hasEnded(process)) throw new Error(`${url}: the server ended with ${process.exitCode ?? process.signalCode}`);
  // refused until it listens
  const response = await fetch(url).catch(() => undefined);
  return response !== undefined && (response.ok || response.status === status);
}

/** Ends a process and waits until it is gone. */
export async function endProcess(process: ChildProcess): Promise<void> {
  if (hasEnded(process)) return;
  const exited = once(process, 'exit');
  process.kill('SIGTERM');
  const force = setTimeout(() => process.kill('SIGKILL'), 5_000);
  await exited;
  clearTimeout(force);
}

/** Whether a process is gone. */
export function hasEnded(process: ChildProcess): boolean {
  return process.exitCode !== null || process.signalCode !== null;
}
