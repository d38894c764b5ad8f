import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { SessionEvent } from '../../../src/contracts/schemas/session.js';
import type { Random } from '../../../src/testing/crash/plan/random.js';
import type { GatewayClient } from '../../cli/http/support/gateway-client.js';

const RETRY_MS = 100;
/** Requests that the client abandons in the middle, so that their answers are lost. */
const ABANDONED_SHARE = 0.03;
/** Messages that are sent again after their receipt. */
const AGAIN_SHARE = 0.05;

/** What is sent to a session. */
export interface Traffic {
  readonly client: GatewayClient;
  readonly key: string;
  readonly count: number;
  readonly random: Random;
  /** Clients that send at once, each one message after the other. */
  readonly lanes: number;
  /** Resolves when a message may be sent. */
  readonly untilRoom: () => Promise<void>;
}

/** What became of the messages that were sent, as their senders know it. */
export class Sent {
  /** The ids of each client, in the order in which it sent them. */
  readonly lanes: string[][] = [];
  readonly acknowledged = new Set<string>();
  /** Requests without an answer, or with one that said to repeat them. */
  repeated = 0;
  duplicates = 0;
}

/** Sends messages `m0`, `m1` … each until it has a receipt. `collect` and `followup` take turns, for as long as chance wants it. */
export async function sendMessages(traffic: Traffic, sent: Sent): Promise<void> {
  const { count, lanes, random } = traffic;
  const modes = modesOf(count, random);
  let next = 0;
  const lane = async (): Promise<void> => {
    const own: string[] = [];
    sent.lanes.push(own);
    for (let index = next++; index < count; index = next++) {
      await traffic.untilRoom();
      const message = { id: `m${index}`, text: `message m${index}`, queue: modes[index] };
      own.push(message.id);
      await acknowledge(traffic, sent, message);
      sent.acknowledged.add(message.id);
      if (random.next() < AGAIN_SHARE) await acknowledge(traffic, sent, message);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** The modes of all messages: long stretches of `collect`, of which many share a run, and short ones of `followup`. */
function modesOf(count: number, random: Random): string[] {
  const modes: string[] = [];
  while (modes.length < count) {
    const isCollect = random.next() < 0.5;
    const length = isCollect ? random.integer(10, 60) : random.integer(1, 8);
    modes.push(...Array.from({ length }, () => (isCollect ? 'collect' : 'followup')));
  }
  return modes;
}

async function acknowledge({ client, key, random }: Traffic, sent: Sent, body: { readonly id: string }): Promise<void> {
  for (;;) {
    const isAbandoned = random.next() < ABANDONED_SHARE;
    const signal = isAbandoned ? AbortSignal.timeout(random.integer(1, 20)) : undefined;
    const answer = await client.ask(`/v1/sessions/${key}/messages`, { body, ...(signal ? { signal } : {}) }).catch(noAnswer);
    if (answer?.status === 202) {
      expect(answer.body).toMatchObject({ id: body.id, accepted: true });
      if (answer.body['duplicate'] === true) sent.duplicates += 1;
      return;
    }
    // it was accepted, that answer was lost, and it was dropped meanwhile
    if (answer?.status === 409) {
      expect(answer.body).toMatchObject({ error: { code: 'MESSAGE_DROPPED' } });
      sent.duplicates += 1;
      return;
    }
    // a queue without room, no worker, no server
    if (answer) expect([429, 503]).toContain(answer.status);
    sent.repeated += 1;
    await delay(RETRY_MS);
  }
}

/** The connection was lost, or refused. */
function noAnswer(): undefined {
  return undefined;
}

/** Reads the stream of a session, and resumes it after each cut. */
export class SessionReader {
  /** The events of the session, without those of its runs. */
  readonly events: SessionEvent[] = [];
  /** Results of runs, by id, as often as they came. */
  readonly results: string[] = [];
  /** Events of the session that are missing: the numbers before and behind. */
  readonly gaps: (readonly [before: number, behind: number])[] = [];
  /** Those of them that the stream did not report. */
  readonly silentGaps: (readonly [before: number, behind: number])[] = [];
  cuts = 0;
  #last: string | undefined;
  #hasGap = false;

  /** Reads until the signal aborts. */
  async read(client: GatewayClient, key: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        for await (const { id, event, data } of client.follow(`/v1/sessions/${key}/events`, this.#last, signal)) {
          this.#last = id;
          this.#take(event, data);
        }
      } catch {
        // the connection was cut, or there is no session yet
      }
      this.cuts += 1;
      await delay(RETRY_MS);
    }
  }

  /** Messages that a run answered, or that were dropped. */
  get settled(): number {
    return this.#settled;
  }
  #settled = 0;

  #take(event: string, data: Record<string, unknown>): void {
    if (event === 'result') this.results.push(String(data['runId']));
    if (event === 'gap' && data['runId'] === undefined) this.#hasGap = true;
    if (!event.startsWith('session.') && !event.startsWith('message.')) return;
    // the stream has the events of the session as they are
    const own = data as unknown as SessionEvent;
    const before = this.events.at(-1)?.seq ?? 0;
    if (own.seq !== before + 1 || this.#hasGap) this.gaps.push([before, own.seq]);
    if (own.seq !== before + 1 && !this.#hasGap) this.silentGaps.push([before, own.seq]);
    this.#hasGap = false;
    this.events.push(own);
    if (own.type === 'message.dropped') this.#settled += 1;
    if (own.type === 'session.run.ended') this.#settled += own.messageIds.length;
  }
}

/** What a session did with its messages, as its events say it. */
export interface Ledger {
  readonly accepted: readonly string[];
  readonly answered: readonly string[];
  readonly dropped: readonly string[];
  /** Runs that started before the run before them had ended, and ends without a start. */
  readonly overlaps: readonly string[];
  readonly runIds: readonly string[];
  readonly reasons: ReadonlySet<string>;
}

/** Reads the events of a session. */
export function ledgerOf(events: readonly SessionEvent[]): Ledger {
  const ledger = {
    accepted: [] as string[],
    answered: [] as string[],
    dropped: [] as string[],
    overlaps: [] as string[],
    runIds: [] as string[],
  };
  const reasons = new Set<string>();
  let active: string | undefined;
  for (const event of events) {
    if (event.type === 'message.accepted') ledger.accepted.push(event.id);
    if (event.type === 'message.dropped') ledger.dropped.push(event.id);
    if (event.type === 'session.run.started') {
      if (active !== undefined) ledger.overlaps.push(event.runId);
      active = event.runId;
      ledger.runIds.push(event.runId);
    }
    if (event.type !== 'session.run.ended') continue;
    if (active !== event.runId) ledger.overlaps.push(event.runId);
    active = undefined;
    ledger.answered.push(...event.messageIds);
    reasons.add(event.reason);
  }
  return { ...ledger, reasons };
}
