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

/** What a client refuses with. Throws when it does not refuse. */
export async function refusalOf(act: () => Promise<unknown>): Promise<{ code: string; message: string; exitCode: number }> {
  const error: unknown = await act().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof PerdureError)) throw new Error(`expected a PerdureError, got ${String(error)}`, { cause: error });
  return { code: error.code, message: error.message, exitCode: error.exitCode };
}
