import type { CarriedState, Sleep } from '../../contracts/schemas/carried-state.js';

/** The reason of a wait, for operators. A function is called each time the reason is read. */
export type WaitReason = string | (() => string);

/** The current waits of a run. */
export class Waits {
  readonly #open = new Set<{ readonly reason: WaitReason }>();
  /** A pause hides the other waits. */
  paused = false;
  /** The calls of `sleep` that have not ended, by their ids. */
  readonly sleeps: Map<string, Sleep>;

  constructor(sleeps: CarriedState['sleeps'] = []) {
    this.sleeps = new Map(sleeps.map((sleep) => [sleep.callId, sleep]));
  }

  get waiting(): boolean {
    return this.#open.size > 0;
  }

  /** The reason of the newest wait; undefined when the run does not wait. */
  get reason(): string | undefined {
    if (this.paused) return 'resume';
    const newest = [...this.#open].at(-1)?.reason;
    return typeof newest === 'function' ? newest() : newest;
  }

  /** The state that continue-as-new carries over. */
  carry(): Pick<CarriedState, 'sleeps'> {
    return this.sleeps.size === 0 ? {} : { sleeps: [...this.sleeps.values()] };
  }

  /** Opens a wait and returns the function that ends it. Several calls of one batch may wait at the same time. */
  open(reason: WaitReason): () => void {
    const wait = { reason };
    this.#open.add(wait);
    return () => {
      this.#open.delete(wait);
    };
  }
}
