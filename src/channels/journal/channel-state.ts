import { CHANNEL_LIMITS } from '../../contracts/constants/limits.js';
import type { BlockPlace, JournalRecord } from './journal-record.js';

/** A block of a part of a run, as the platform has it or may have it. */
export interface SentBlock {
  /** Where it ends in the text of its part. */
  readonly end: number;
  readonly hash: string;
  /** Its id on the platform. Undefined if the send may have failed, empty if the platform refused it. */
  readonly id?: string;
  /** Time of the first attempt to send it. Journals of earlier versions do not have it. */
  readonly at?: number;
  /** False while a send or an edit of it is not confirmed. */
  readonly isConfirmed: boolean;
}

/** What the session decided about a message, for good: the run that answers it has ended, or no run answers it. */
export type MessageOutcome = { readonly run: string } | { readonly reason: string };

interface Conversation {
  /** Messages that are not settled, with the time of their arrival. */
  readonly open: Map<string, number>;
  /** What was decided about open messages, in the order in which it was learned. */
  readonly outcomes: Map<string, MessageOutcome>;
  /** Blocks by run and part. */
  readonly runs: Map<string, Map<string, SentBlock[]>>;
}

/** The state of a channel: the records of its journal, applied one after the other. Pure but for itself. */
export class ChannelState {
  readonly #conversations = new Map<string, Conversation>();
  /** Settled messages with their conversations, oldest first: an id counts only in its conversation. */
  readonly #settled = new Map<string, { readonly conversation: string; readonly id: string }>();

  /** The conversations with messages that are not settled. */
  get open(): string[] {
    return [...this.#conversations].flatMap(([conversation, { open }]) => (open.size > 0 ? [conversation] : []));
  }

  /** The messages of a conversation that are not settled, with the time of their arrival. */
  openIn(conversation: string): ReadonlyMap<string, number> {
    return this.#conversations.get(conversation)?.open ?? new Map();
  }

  /** What the session decided about open messages of a conversation, in the order in which it was learned. */
  outcomesIn(conversation: string): ReadonlyMap<string, MessageOutcome> {
    return this.#conversations.get(conversation)?.outcomes ?? new Map();
  }

  /** True for a message that was answered, or reported as not answered. */
  isSettled(conversation: string, id: string): boolean {
    return this.#settled.has(keyOf(conversation, id)) || this.#settled.has(keyOf(ANY, id));
  }

  /** The blocks of a part of a run, in order. */
  blocks({ conversation, run, part }: Omit<BlockPlace, 'n'>): readonly SentBlock[] {
    return this.#conversations.get(conversation)?.runs.get(run)?.get(part) ?? [];
  }

  apply(record: JournalRecord): void {
    const { conversation } = record;
    const known = this.#conversations.get(conversation) ?? { open: new Map(), outcomes: new Map(), runs: new Map() };
    this.#conversations.set(conversation, known);
    if (record.type === 'received') known.open.set(record.id, record.at);
    else if (record.type === 'withdrawn') known.open.delete(record.id);
    else if (record.type === 'assigned') for (const id of record.ids) decide(known, id, { run: record.run });
    else if (record.type === 'dropped') decide(known, record.id, { reason: record.reason });
    else if (record.type === 'settled') this.#settle(known, record);
    else this.#setBlock(known, record);
    if (known.open.size === 0 && known.runs.size === 0) this.#conversations.delete(conversation);
  }

  /** The records that give this state. */
  records(): JournalRecord[] {
    return [
      ...settledRecords([...this.#settled.values()]),
      ...[...this.#conversations].flatMap(([conversation, known]) => recordsOf(conversation, known)),
    ];
  }

  #settle(known: Conversation, { conversation, ids, run }: Extract<JournalRecord, { type: 'settled' }>): void {
    for (const id of ids) {
      known.open.delete(id);
      known.outcomes.delete(id);
      this.#settled.set(keyOf(conversation, id), { conversation, id });
    }
    if (run !== undefined) known.runs.delete(run);
    for (const key of this.#settled.keys()) {
      if (this.#settled.size <= CHANNEL_LIMITS.settledIdsMax) break;
      this.#settled.delete(key);
    }
  }

  #setBlock(known: Conversation, record: Extract<JournalRecord, { type: 'sending' | 'sent' }>): void {
    const { run, part, n } = record;
    const parts = known.runs.get(run) ?? new Map<string, SentBlock[]>();
    const blocks = parts.get(part) ?? [];
    known.runs.set(run, parts.set(part, blocks));
    const before = blocks[n];
    if (record.type === 'sent') blocks[n] = { end: 0, hash: '', ...before, id: record.id, isConfirmed: true };
    else {
      const { end, hash, at } = record;
      blocks[n] = { ...(at === undefined ? {} : { at }), ...before, end, hash, isConfirmed: false };
    }
  }
}

/** The conversation of settled ids in journals of earlier versions, which did not keep it. */
const ANY = '-';

/** No id and no conversation has a line break. */
function keyOf(conversation: string, id: string): string {
  return `${conversation}\n${id}`;
}

/** What was decided first counts: it was final. */
function decide({ open, outcomes }: Conversation, id: string, outcome: MessageOutcome): void {
  if (open.has(id) && !outcomes.has(id)) outcomes.set(id, outcome);
}

/** One record for each row of messages of the same conversation: their order says which are forgotten first. */
function settledRecords(settled: readonly { readonly conversation: string; readonly id: string }[]): JournalRecord[] {
  const records: { type: 'settled'; conversation: string; ids: string[] }[] = [];
  for (const { conversation, id } of settled) {
    const last = records.at(-1);
    if (last?.conversation === conversation) last.ids.push(id);
    else records.push({ type: 'settled', conversation, ids: [id] });
  }
  return records;
}

function recordsOf(conversation: string, { open, outcomes, runs }: Conversation): JournalRecord[] {
  const decided = [...outcomes].map(
    ([id, outcome]): JournalRecord =>
      'run' in outcome
        ? { type: 'assigned', conversation, ids: [id], run: outcome.run }
        : { type: 'dropped', conversation, id, reason: outcome.reason },
  );
  const received = [...open].map(([id, at]) => ({ type: 'received', conversation, id, at }) as const);
  const sent = [...runs].flatMap(([run, parts]) =>
    [...parts].flatMap(([part, blocks]) =>
      blocks.flatMap(({ end, hash, id, at, isConfirmed }, n): JournalRecord[] => {
        const place = { conversation, run, part, n };
        const sending = { type: 'sending', ...place, end, hash, ...(at === undefined ? {} : { at }) } as const;
        if (id === undefined) return [sending];
        return isConfirmed ? [sending, { type: 'sent', ...place, id }] : [sending, { type: 'sent', ...place, id }, sending];
      }),
    ),
  );
  return [...received, ...decided, ...sent];
}
