import { PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import type { RunEventBody } from '../../contracts/event.js';
import type { CarriedState } from '../../contracts/schemas/carried-state.js';

/** The number of newest events of a run that continue-as-new carries: enough for a watcher that polls every second. */
const CARRIED_EVENTS = 100;

/** An event with its sequence number and time. */
type Logged<Body> = { readonly seq: number; readonly at: number } & Body;

/** One page of events. */
interface LoggedPage<Body> {
  readonly first: number;
  readonly next: number;
  readonly events: readonly Logged<Body>[];
}

/** The events of a run or a session, newest last, limited in number and bytes. They are workflow state only: no command, no history. */
export class EventLog<Body extends { readonly type: string } = RunEventBody> {
  #kept: Logged<Body>[] = [];
  #sizes: number[] = [];
  #bytes = 0;
  #seq = 0;

  /** Adds one event under the next `seq`. */
  add(body: Body): void {
    this.#seq += 1;
    const event: Logged<Body> = { seq: this.#seq, at: Date.now(), ...body };
    this.#keep(event);
    while (this.#kept.length > PAYLOAD_LIMITS.eventsMax || this.#bytes > PAYLOAD_LIMITS.eventsBytesMax) this.#dropOldest();
  }

  /** The kept events after `after`, limited to the size of one query answer. Anything but a number counts as 0. */
  page(request: { after: number; types?: readonly string[] }): LoggedPage<Body> {
    const first = this.#kept[0]?.seq ?? this.#seq + 1;
    const events: Logged<Body>[] = [];
    let bytes = 0;
    const after = Number.isFinite(request.after) ? request.after : 0;
    let next = Math.max(after, first - 1);
    for (const [index, event] of this.#kept.entries()) {
      if (event.seq <= after) continue;
      const wanted = !request.types || request.types.includes(event.type);
      bytes += wanted ? (this.#sizes[index] ?? 0) : 0;
      if (bytes > PAYLOAD_LIMITS.outsideBytesMax) break;
      if (wanted) events.push(event);
      next = event.seq;
    }
    return { first, next, events };
  }

  /** The state that continue-as-new carries over, with this many of the newest events. */
  carry(count = CARRIED_EVENTS): CarriedState['events'] {
    return { seq: this.#seq, kept: this.#kept.slice(-count) };
  }

  /** Rebuilds a log from the carried state. */
  static from<Body extends { readonly type: string } = RunEventBody>(carried: CarriedState['events']): EventLog<Body> {
    const log = new EventLog<Body>();
    log.#seq = carried.seq;
    // this class wrote the events as plain JSON; the schema of the carried state does not repeat their union
    for (const event of carried.kept) log.#keep(event as unknown as Logged<Body>);
    return log;
  }

  #keep(event: Logged<Body>): void {
    const size = JSON.stringify(event).length;
    this.#kept.push(event);
    this.#sizes.push(size);
    this.#bytes += size;
  }

  #dropOldest(): void {
    this.#kept.shift();
    this.#bytes -= this.#sizes.shift() ?? 0;
  }
}
