import { once } from 'node:events';
import type { Interrupts } from './host/interrupts.js';

/** Resolves when the first interrupt comes, or has come. */
export async function untilInterrupted({ signal }: Interrupts): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
