import { type EventEmitter, once } from 'node:events';
import { WORKER_LIMITS } from '../../contracts/constants/limits.js';

/** The reason why a command detaches. */
export type InterruptKind = 'ctrl-c' | 'terminate' | 'pipe-closed' | 'hang-up';

/** Shells use it for SIGTERM. */
const EXIT_CODE_TERMINATED = 143;

/** The exit status after a detach. The one of a closed terminal is that of shells for SIGHUP. */
export const EXIT_CODE_DETACHED: Readonly<Record<InterruptKind, number>> = {
  'ctrl-c': 0,
  'pipe-closed': 0,
  'hang-up': 129,
  terminate: EXIT_CODE_TERMINATED,
};

/**
 * The interrupts of one command. The first one detaches in an orderly way; a second Ctrl-C exits immediately. Neither changes the run:
 * only `cancel` does. SIGTERM comes from a service manager that kills the process soon after, so the end has a limit then.
 */
export class Interrupts {
  readonly #controller = new AbortController();
  readonly #terminated = new AbortController();
  #kind: InterruptKind | undefined;

  /** Aborted by the first interrupt. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborted by SIGTERM, also while the command already ends. */
  get terminated(): AbortSignal {
    return this.#terminated.signal;
  }

  get kind(): InterruptKind | undefined {
    return this.#kind;
  }

  /**
   * Listens for SIGINT and SIGTERM until the process exits. With a terminal also for SIGHUP, which a closed terminal sends: without one,
   * `nohup` may have turned it off.
   */
  listen({ hasTerminal, signals = process }: { readonly hasTerminal: boolean; readonly signals?: EventEmitter }): void {
    if (hasTerminal) signals.on('SIGHUP', () => this.interrupt('hang-up'));
    signals.on('SIGINT', () => {
      if (this.#kind !== undefined) process.exit(0);
      this.interrupt('ctrl-c');
    });
    signals.on('SIGTERM', () => {
      this.interrupt('terminate');
      this.#terminated.abort();
      setTimeout(() => process.exit(EXIT_CODE_TERMINATED), WORKER_LIMITS.shutdownForceMs).unref();
    });
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
