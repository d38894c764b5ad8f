import { CHANNEL_LIMITS } from '../../contracts/constants/limits.js';
import type { BlockPlace, JournalRecord } from './journal-record.js';

/** A block of a part of a run, as the platform has it or may have it. */
export interface SentBlock {
  /** Where it ends in the text of its part. */
  readonly end: number;
  readonly hash: string;
  /** Its id on the platform. Undefined if the send may have failed, empty if the platform refused it. */
  readonly id?: string;
  /** False while a send or an edit of it is not confirmed. */
  readonly isConfirmed: boolean;
}

interface Conversation {
  /** Messages that are not settled, with the time of their arrival. */
  readonly open: Map<string, number>;
  /** Blocks by run and part. */
  readonly runs: Map<string, Map<string, SentBlock[]>>;
}

/** The state of a channel: the records of its journal, applied one after the other. Pure but for itself. */
export class ChannelState {
  readonly #conversations = new Map<string, Conversation>();
  /** Ids of settled messages, oldest first. */
  readonly #settled = new Set<string>();

  /** The conversations with messages that are not settled. */
  get open(): string[] {
    return [...this.#conversations].flatMap(([conversation, { open }]) => (open.size > 0 ? [conversation] : []));
  }

  /** The messages of a conversation that are not settled, with the time of their arrival. */
  openIn(conversation: string): ReadonlyMap<string, number> {
    return this.#conversations.get(conversation)?.open ?? new Map();
  }

  /** True for a message that was answered, or reported as not answered. */
  isSettled(id: string): boolean {
    return this.#settled.has(id);
  }

  /** The blocks of a part of a run, in order. */
  blocks({ conversation, run, part }: Omit<BlockPlace, 'n'>): readonly SentBlock[] {
    return this.#conversations.get(conversation)?.runs.get(run)?.get(part) ?? [];
  }

  apply(record: JournalRecord): void {
    const { conversation } = record;
    const known = this.#conversations.get(conversation) ?? { open: new Map(), runs: new Map() };
    this.#conversations.set(conversation, known);
    if (record.type === 'received') known.open.set(record.id, record.at);
    else if (record.type === 'withdrawn') known.open.delete(record.id);
    else if (record.type === 'settled') this.#settle(known, record);
    else this.#setBlock(known, record);
    if (known.open.size === 0 && known.runs.size === 0) this.#conversations.delete(conversation);
  }

  /** The records that give this state. */
  records(): JournalRecord[] {
    const settled: JournalRecord[] = this.#settled.size > 0 ? [{ type: 'settled', conversation: NONE, ids: [...this.#settled] }] : [];
    return [...settled, ...[...this.#conversations].flatMap(([conversation, known]) => recordsOf(conversation, known))];
  }

  #settle(known: Conversation, { ids, run }: Extract<JournalRecord, { type: 'settled' }>): void {
    for (const id of ids) {
      known.open.delete(id);
      this.#settled.add(id);
    }
    if (run !== undefined) known.runs.delete(run);
    for (const id of this.#settled) {
      if (this.#settled.size <= CHANNEL_LIMITS.settledIdsMax) break;
      this.#settled.delete(id);
    }
  }

  #setBlock(known: Conversation, record: Extract<JournalRecord, { type: 'sending' | 'sent' }>): void {
    const { run, part, n } = record;
    const parts = known.runs.get(run) ?? new Map<string, SentBlock[]>();
    const blocks = parts.get(part) ?? [];
    known.runs.set(run, parts.set(part, blocks));
    const before = blocks[n];
    if (record.type === 'sent') blocks[n] = { end: before?.end ?? 0, hash: before?.hash ?? '', id: record.id, isConfirmed: true };
    else {
      const { end, hash } = record;
      blocks[n] = { end, hash, ...(before?.id === undefined ? {} : { id: before.id }), isConfirmed: false };
    }
  }
}

/** The settled ids are of no conversation any more. */
const NONE = '-';

function recordsOf(conversation: string, { open, runs }: Conversation): JournalRecord[] {
  const received = [...open].map(([id, at]) => ({ type: 'received', conversation, id, at }) as const);
  const sent = [...runs].flatMap(([run, parts]) =>
    [...parts].flatMap(([part, blocks]) =>
      blocks.flatMap(({ end, hash, id, isConfirmed }, n): JournalRecord[] => {
        const place = { conversation, run, part, n };
        const sending = { type: 'sending', ...place, end, hash } as const;
        if (id === undefined) return [sending];
        return isConfirmed ? [sending, { type: 'sent', ...place, id }] : [sending, { type: 'sent', ...place, id }, sending];
      }),
    ),
  );
  return [...received, ...sent];
}
