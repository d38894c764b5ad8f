import { once } from 'node:events';

/** Why a command should let go of what it watches. */
export type InterruptKind = 'ctrl-c' | 'terminate' | 'pipe-closed';

/**
 * Ctrl-C and its kin for one command: the first lets go in an orderly way, a second Ctrl-C ends the process at once. The run is never
 * touched: only `cancel` does that.
 */
export class Interrupts {
  readonly #controller = new AbortController();
  #kind: InterruptKind | undefined;

  /** Aborted by the first interrupt. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get kind(): InterruptKind | undefined {
    return this.#kind;
  }

  /** Starts to listen for SIGINT and SIGTERM, until the process ends. */
  listen(): void {
    process.on('SIGINT', () => {
      if (this.#kind !== undefined) process.exit(0);
      this.interrupt('ctrl-c');
    });
    process.on('SIGTERM', () => this.interrupt('terminate'));
  }

  interrupt(kind: InterruptKind): void {
    this.#kind ??= kind;
    this.#controller.abort();
  }
}

/** Resolves when the first interrupt comes, or has come. */
export async function untilInterrupted({ signal }: Interrupts): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
