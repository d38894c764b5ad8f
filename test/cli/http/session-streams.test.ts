import { describe, expect, it } from 'vitest';
import { HTTP_LIMITS, SESSION_LIMITS } from '../../../src/contracts/constants/limits.js';
import { PerdureError } from '../../../src/contracts/perdure-error.js';
import type { SessionEvent, SessionEventPage } from '../../../src/contracts/schemas/session.js';
import { SessionFeed } from '../../../src/gateway/http/events/session-feed.js';
import { say } from '../../support/agent-worker.js';
import { until } from '../../support/use-workers.js';
import { readEvents } from './support/gateway-client.js';
import { useGateways } from './support/use-gateways.js';

const gateways = useGateways();

const CLIENTS = 20;

/** A session with these events, which answers one at a time. */
function sessionOf(events: readonly SessionEvent[]) {
  const asked: number[] = [];
  return {
    asked,
    events: ({ after = 0 }: { readonly after?: number } = {}): Promise<SessionEventPage> => {
      asked.push(after);
      const found = events.filter(({ seq }) => seq > after).slice(0, 1);
      return Promise.resolve({ first: 1, next: found.at(-1)?.seq ?? after, events: found });
    },
  };
}

function dropped(seq: number, reason = 'unsent'): SessionEvent {
  return { seq, at: 0, type: 'message.dropped', id: `m${seq}`, reason };
}

/** The starts and ends of runs among the types of events. */
function runsIn(types: readonly string[] = []): string[] {
  return types.filter((type) => type.startsWith('session.run.'));
}

describe('the streams of a session', () => {
  it('U1: of many clients cost one query a second; each has all events, in order, and none is asked once the last client left', async () => {
    let queries = 0;
    const place = await gateways.place({ model: () => say('done') });
    const { client } = await place.gateway({ onSessionEvents: () => (queries += 1) });
    await client.ask('/v1/sessions/many/messages', { body: { text: 'one' } });
    const seen: string[][] = Array.from({ length: CLIENTS }, () => []);
    const leave = new AbortController();
    const following = seen.map(async (types) => {
      const { body } = await fetch(`${client.url}/v1/sessions/many/events`, { headers: client.authorization, signal: leave.signal });
      for await (const { event, data } of readEvents(body ?? [])) types.push(`${event} ${String(data['runId'])}`);
    });
    const haveSeen = (runId: string) => seen.every((types) => types.includes(`session.run.ended ${runId}`));
    await until(() => haveSeen('many/1'), 'each client has the first run');
    const before = queries;
    const begun = Date.now();
    await client.ask('/v1/sessions/many/messages', { body: { text: 'two' } });
    await until(() => haveSeen('many/2'), 'each client has the second run');
    await new Promise((resolve) => setTimeout(resolve, 3 * SESSION_LIMITS.followEveryMs));
    // two pages of new events, and one look a second
    expect(queries - before).toBeLessThanOrEqual((Date.now() - begun) / SESSION_LIMITS.followEveryMs + 6);
    for (const types of seen) expect(runsIn(types)).toEqual(runsIn(seen[0]));
    expect(new Set(runsIn(seen[0])).size).toBe(4);
    leave.abort();
    await Promise.allSettled(following);
    await new Promise((resolve) => setTimeout(resolve, HTTP_LIMITS.lingerMs + SESSION_LIMITS.followEveryMs));
    const after = queries;
    await new Promise((resolve) => setTimeout(resolve, 2 * SESSION_LIMITS.followEveryMs));
    expect(queries).toBe(after);
  });
});

describe('SessionFeed', () => {
  it('has each event once, behind any place', async () => {
    const session = sessionOf([1, 2, 3].map((seq) => dropped(seq)));
    const feed = new SessionFeed(session);
    try {
      await until(() => session.asked.includes(3), 'all are read');
      expect(session.asked).toEqual([0, 1, 2, 3]);
      expect(feed.after(0)).toHaveLength(3);
      expect(feed.after(2)).toEqual([dropped(3)]);
      expect(feed.after(3)).toEqual([]);
      expect(feed.after(999)).toEqual([]);
    } finally {
      feed.close();
    }
    expect(feed.isOver).toBe(true);
  });

  it('keeps the newest events within its limit: a client that is further behind asks the session', async () => {
    const large = 'x'.repeat(HTTP_LIMITS.feedBytesMax / 2);
    const session = sessionOf([1, 2, 3, 4].map((seq) => dropped(seq, large)));
    const feed = new SessionFeed(session);
    try {
      await until(() => session.asked.includes(4), 'all are read');
      expect(feed.after(0)).toBe('dropped');
      expect(feed.after(3)).toEqual([dropped(4, large)]);
    } finally {
      feed.close();
    }
  });

  it('continues after an error that passes, and ends with any other one', async () => {
    const errors = [new PerdureError('NO_WORKER', 'none', 5), undefined, new PerdureError('NO_SESSION', 'no session', 3)];
    const session = {
      events: (): Promise<SessionEventPage> => {
        const error = errors.shift();
        return error ? Promise.reject(error) : Promise.resolve({ first: 1, next: 1, events: [dropped(1)] });
      },
    };
    const feed = new SessionFeed(session);
    await until(() => feed.isOver, 'the feed ends', 5_000);
    expect(feed.after(0)).toEqual([dropped(1)]);
    expect(feed.error).toMatchObject({ code: 'NO_SESSION' });
  });
});
