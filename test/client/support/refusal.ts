import { PerdureError } from '../../../src/contracts/perdure-error.js';

/** The line a person reads, and the exit status. */
export function refusal(act: () => unknown): { line: string; exitCode: number } {
  try {
    act();
  } catch (error) {
    if (error instanceof PerdureError) return { line: `${error.code}: ${error.message}`, exitCode: error.exitCode };
    throw error;
  }
  throw new Error('nothing was refused');
}
