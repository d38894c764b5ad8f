import { describe, expect, it } from 'vitest';
import { PAYLOAD_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { SessionEventBody } from '../../../src/contracts/schemas/session.js';
import { EventLog } from '../../../src/workflows/state/event-log.js';

function filled(count: number): EventLog<SessionEventBody> {
  const log = new EventLog<SessionEventBody>();
  for (let n = 1; n <= count; n += 1) log.add({ type: 'message.dropped', id: `m${n}`, reason: 'unsent' });
  return log;
}

describe('EventLog', () => {
  it('keeps the newest 1,000 events, and a page shows a reader that events before them are missing', () => {
    const { first, events } = filled(1_500).page({ after: 100 });
    expect([first, events[0]?.seq, events.length]).toEqual([501, 501, 1_000]);
  });

  it('carries as many of the newest events as are asked for, under the same numbers', () => {
    const log = filled(1_500);
    for (const [count, first] of [
      [undefined, 1_401],
      [PAYLOAD_LIMITS.eventsMax, 501],
    ] as const) {
      const carried = EventLog.from<SessionEventBody>(structuredClone(log.carry(count)));
      carried.add({ type: 'message.dropped', id: 'next', reason: 'unsent' });
      const page = carried.page({ after: 0 });
      expect([page.events.at(-1)?.seq, page.first]).toEqual([1_501, count === undefined ? first : first + 1]);
    }
  });
});
