import type { Boundary, FromWorker } from './protocol.js';

/** The worker's side of the boundaries: reports each one to the harness, over the IPC channel. */
export class BoundaryGate {
  readonly #waiting = new Map<number, () => void>();
  #tickets = 0;

  /** Reports a boundary and waits until the harness lets this process continue, or kills it. */
  pass(boundary: Boundary): Promise<void> {
    this.#tickets += 1;
    const ticket = this.#tickets;
    return new Promise((resolve) => {
      this.#waiting.set(ticket, resolve);
      send({ kind: 'boundary', boundary, ticket });
    });
  }

  /** Reports a boundary without waiting. */
  tell(boundary: Boundary): void {
    send({ kind: 'boundary', boundary });
  }

  /** Lets the boundary with this ticket continue. */
  open(ticket: number): void {
    this.#waiting.get(ticket)?.();
    this.#waiting.delete(ticket);
  }
}

/** Sends a message to the harness. Without a harness, this process is about to exit. */
export function send(message: FromWorker): void {
  if (process.connected) process.send?.(message);
}
