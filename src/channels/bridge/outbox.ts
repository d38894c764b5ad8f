import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type BlockPause, pauseBefore } from '../blocks/block-pause.js';
import type { Block } from '../blocks/split-blocks.js';
import type { Channel } from '../contract/channel.js';
import { errorKindOf } from '../contract/channel-error.js';
import type { SentBlock } from '../journal/channel-state.js';
import type { BlockPlace } from '../journal/journal-record.js';
import type { JournaledState } from '../journal/journaled-state.js';
import { withRetries } from './with-retries.js';

/** A line for the operator: `CODE: message`. */
export type Report = (line: string) => void;

/** Options of an outbox. */
export interface OutboxOptions {
  /** Name of the channel. */
  readonly name: string;
  readonly channel: Channel;
  readonly journaled: JournaledState;
  readonly pause: BlockPause;
  readonly report: Report;
  readonly signal: AbortSignal;
}

/** A block for a place, and the message that it replies to. */
export interface PutBlock extends Block {
  /** Id of the message that its run answers first. Another run may have the same id after the first one is no longer kept. */
  readonly answers: string;
  readonly replyTo?: string;
}

/**
 * Sends blocks to a platform, each once, whatever dies: a record before each request and one after it say where it stands. A block that is
 * at its place with another text is edited.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  #lastReport = '';

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** True if a message that was sent can get another text. */
  get edits(): boolean {
    return this.#options.channel.edit !== undefined;
  }

  /** Resolves when the platform has the block, or refused it. Rejects only when the signal aborts, or the journal fails. */
  async put(place: BlockPlace, block: PutBlock): Promise<void> {
    const { journaled } = this.#options;
    const known = journaled.state.blocks(place)[place.n];
    const hash = hashOf(block.text);
    if (known?.isConfirmed && (known.hash === hash || known.id === '' || !this.edits)) return;
    if (!known) await this.#pause(place, block);
    await journaled.add({ type: 'sending', ...place, end: block.end, hash, at: Date.now() });
    await journaled.add({ type: 'sent', ...place, id: await this.#request(place, block, known) });
    this.#lastReport = '';
  }

  /** The id of the block on the platform. Empty if it was refused. */
  async #request(place: BlockPlace, block: PutBlock, known: SentBlock | undefined): Promise<string> {
    const { name, report, signal } = this.#options;
    let id = known?.id;
    // another process, or an earlier attempt, may have sent it
    let isUncertain = known !== undefined && id === undefined;
    const mayDiffer = known !== undefined && (known.id !== undefined || known.hash !== hashOf(block.text));
    try {
      return await withRetries(
        async () => {
          id ??= await this.#send(place, block, isUncertain);
          if (mayDiffer) await this.#edit(place, block, id);
          return id;
        },
        {
          signal,
          onRetry: (error) => {
            isUncertain ||= errorKindOf(error) === 'uncertain';
            this.#tell(`CHANNEL_RETRY: channel ${name}: ${textOf(error)}; the message is sent again`);
          },
        },
      );
    } catch (error) {
      signal.throwIfAborted();
      report(`CHANNEL_REFUSED: channel ${name}: ${textOf(error)}; a message of run ${place.run} was given up`);
      return id ?? '';
    }
  }

  async #send(place: BlockPlace, block: PutBlock, isUncertain: boolean): Promise<string> {
    const { channel, name, journaled, report, signal } = this.#options;
    const { conversation } = place;
    const { text, replyTo } = block;
    const message = { key: this.#keyOf(place, block), conversation, ...(replyTo === undefined ? {} : { replyTo }) };
    if (isUncertain && channel.abilities.deduplicates === 'by-search') {
      const since = journaled.state.blocks(place)[place.n]?.at;
      const found = await channel.find?.({ ...message, ...(since === undefined ? {} : { since }) }, signal);
      if (found) return found.id;
    }
    if (isUncertain && channel.abilities.deduplicates === 'never') {
      report(`MAY_REPEAT: channel ${name} cannot deduplicate; a message of run ${place.run} may be shown twice`);
    }
    const { id } = await channel.send({ ...message, text }, signal);
    return id;
  }

  async #edit({ conversation }: BlockPlace, { text }: PutBlock, id: string): Promise<void> {
    await this.#options.channel.edit?.({ conversation, id, text }, this.#options.signal);
  }

  async #pause(place: BlockPlace, block: PutBlock): Promise<void> {
    const { pause, signal } = this.#options;
    if (place.n > 0 && pause.maxMs > 0) await delay(pauseBefore(this.#keyOf(place, block), pause), undefined, { signal });
  }

  /** The idempotency key of a block: the same each time it is sent, and of no other block. */
  #keyOf({ conversation, run, part, n }: BlockPlace, { answers }: PutBlock): string {
    return hashOf(JSON.stringify([this.#options.name, conversation, run, answers, part, n])).slice(0, 32);
  }

  /** Reports a repeated error once. */
  #tell(line: string): void {
    if (line !== this.#lastReport) this.#options.report(line);
    this.#lastReport = line;
  }
}

/** The hash of a text. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
