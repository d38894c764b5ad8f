import { PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import type { EventPage, RunEvent, RunEventBody } from '../../contracts/event.js';
import type { CarriedState } from '../../contracts/schemas/carried-state.js';

/** How many of the newest events continue-as-new carries: enough for a watcher that polls every second. */
const CARRIED_EVENTS = 100;

/** What happened in a run, newest last, bounded in number and bytes. Lives in workflow state only: no command, no history. */
export class EventLog {
  #kept: RunEvent[] = [];
  #sizes: number[] = [];
  #bytes = 0;
  #seq = 0;

  /** Adds one event under the next `seq`. */
  add(body: RunEventBody): void {
    this.#seq += 1;
    const event: RunEvent = { seq: this.#seq, at: Date.now(), ...body };
    this.#keep(event);
    while (this.#kept.length > PAYLOAD_LIMITS.eventsMax || this.#bytes > PAYLOAD_LIMITS.eventsBytesMax) this.#dropOldest();
  }

  /** The kept events after `after`, cut to what outsiders may read in one answer. Anything but a number counts as 0. */
  page(request: { after: number; types?: readonly string[] }): EventPage {
    const first = this.#kept[0]?.seq ?? this.#seq + 1;
    const events: RunEvent[] = [];
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

  /** What continue-as-new carries. */
  carry(): CarriedState['events'] {
    return { seq: this.#seq, kept: this.#kept.slice(-CARRIED_EVENTS) };
  }

  /** Rebuilds a log from what was carried. */
  static from(carried: CarriedState['events']): EventLog {
    const log = new EventLog();
    log.#seq = carried.seq;
    // events are plain JSON data that this class wrote; the carried schema does not repeat their union
    for (const event of carried.kept) log.#keep(event as unknown as RunEvent);
    return log;
  }

  #keep(event: RunEvent): void {
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
