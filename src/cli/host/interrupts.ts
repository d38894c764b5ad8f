import { once } from 'node:events';

/** The reason why a command detaches. */
export type InterruptKind = 'ctrl-c' | 'terminate' | 'pipe-closed';

/**
 * The interrupts of one command. The first one detaches in an orderly way; a second Ctrl-C exits immediately. Neither changes the run:
 * only `cancel` does.
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

  /** Listens for SIGINT and SIGTERM until the process exits. */
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

/** Resolves at the first interrupt, or immediately if there was one. */
export async function untilInterrupted({ signal }: Interrupts): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
