import { CONTINUE_AS_NEW_LIMITS, STEER_LIMITS } from '../../contracts/constants/limits.js';
import type { SteerRecord } from '../../contracts/schemas/run.js';

/**
 * The final states of the newest messages, oldest first: what makes a repeated id a duplicate. Of messages that were refused on arrival
 * few are kept, so that a flood of them does not push out what is known of the others.
 */
export class DeliveryRecords {
  readonly #records: Map<string, SteerRecord>;
  readonly #neverQueued: Set<string>;
  #refusedInARow = 0;
  /** The number in the last id that was generated for an invalid input. */
  #refused: number;

  constructor(records: readonly SteerRecord[] = []) {
    this.#records = new Map(records.map((record) => [record.id, record]));
    this.#neverQueued = new Set(records.filter(wasNeverQueued).map(({ id }) => id));
    this.#refused = Math.max(0, ...[...this.#neverQueued].map(numberIn));
  }

  /** True for the id of a message that was queued once. One that was refused on arrival may be sent again. */
  has(id: string): boolean {
    return this.#records.has(id) && !this.#neverQueued.has(id);
  }

  list(): SteerRecord[] {
    return [...this.#records.values()];
  }

  /** Records how a queued message ended. */
  add(record: SteerRecord): void {
    this.#records.set(record.id, record);
    if (this.#records.size > CONTINUE_AS_NEW_LIMITS.seenIdsMax) this.#forget(this.#records.keys().next().value);
  }

  /** Records a refusal on arrival. Returns its record, if it is one of the first in a row: the others are no events. */
  refuse(id: string, reason: string): SteerRecord | undefined {
    this.#refusedInARow += 1;
    const left = STEER_LIMITS.refusalEventsMax - this.#refusedInARow;
    const record: SteerRecord = {
      id,
      state: 'refused',
      reason: left === 0 ? `${reason} (further refusals in a row are no events)` : reason,
    };
    this.#neverQueued.delete(id);
    this.#neverQueued.add(id);
    this.add(record);
    if (this.#neverQueued.size > STEER_LIMITS.refusedKeptMax) this.#forget(this.#neverQueued.keys().next().value);
    return left >= 0 ? record : undefined;
  }

  /** A message is queued: it ends a row of refusals, and its own earlier refusal. */
  accept(id: string): void {
    this.#refusedInARow = 0;
    if (this.#neverQueued.has(id)) this.#forget(id);
  }

  /** An id for an invalid input. No client can send it, and it uses none of the workflow's random numbers, which replay must repeat. */
  newId(): string {
    this.#refused += 1;
    return `${REFUSED}${this.#refused}`;
  }

  #forget(id: string | undefined): void {
    if (id === undefined) return;
    this.#records.delete(id);
    this.#neverQueued.delete(id);
  }
}

/** Begins the reason of a refusal that time cures. */
export const INBOX_FULL = 'INBOX_FULL';

const REFUSED = 'refused#';

function wasNeverQueued({ id, state, reason = '' }: SteerRecord): boolean {
  return state === 'refused' && (id.startsWith(REFUSED) || reason.startsWith(INBOX_FULL));
}

function numberIn(id: string): number {
  return id.startsWith(REFUSED) ? Number(id.slice(REFUSED.length)) || 0 : 0;
}
