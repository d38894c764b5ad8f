import { CHANNEL_LIMITS } from '../../contracts/constants/limits.js';
import { type Block, type BlockSizes, finishedEnd, splitBlocks } from '../blocks/split-blocks.js';
import type { SentBlock } from '../journal/channel-state.js';
import type { BlockPlace } from '../journal/journal-record.js';
import { hashOf, type Outbox } from './outbox.js';

/** A part of a run: an answer of the model, its thinking, the output, or a notice. */
export type PartPlace = Omit<BlockPlace, 'n'>;

/** Options of `PartDelivery`. */
export interface PartDeliveryOptions {
  readonly outbox: Outbox;
  readonly sent: (part: PartPlace) => readonly SentBlock[];
  readonly sizes: BlockSizes;
  /** Id of the message that the run answers first. */
  readonly answers: string;
}

/** A text of a part. `replyTo`: the message that its first block replies to. */
export interface PartText {
  readonly text: string;
  readonly replyTo?: string | undefined;
}

/**
 * Delivers the text of one part as blocks. What was sent of it before, by this process or by one that was killed, is continued if the text
 * begins with it, and edited if it does not.
 */
export class PartDelivery {
  readonly #place: PartPlace;
  readonly #options: PartDeliveryOptions;

  constructor(place: PartPlace, options: PartDeliveryOptions) {
    this.#place = place;
    this.#options = options;
  }

  /** Sends the blocks of a text that is not over. */
  async grow({ text, replyTo }: PartText): Promise<void> {
    if (text.length > CHANNEL_LIMITS.liveCharsMax) return;
    const sent = this.#sent();
    // an attempt that is shorter than what was sent may still become the same text
    if (text.length < (sent.at(-1)?.end ?? 0)) return;
    await this.#put(this.#split(text, { isOver: false, sent }), replyTo);
  }

  /** Sends what is finished of a text that stopped arriving. */
  async rest({ text, replyTo }: PartText): Promise<void> {
    const sent = this.#sent();
    const ends = sent.map(({ end }) => end);
    if (text.length > CHANNEL_LIMITS.liveCharsMax || text.length < (ends.at(-1) ?? 0)) return;
    const { sizes } = this.#options;
    const end = finishedEnd(text, { ...sizes, ends });
    if (end === undefined) return;
    const blocks = splitBlocks(text.slice(0, end), { ...sizes, ends });
    if (continues(blocks, sent)) await this.#put(blocks, replyTo);
  }

  /** Sends the whole text. Blocks of a longer text that was replaced are marked. */
  async settle({ text, replyTo }: PartText): Promise<void> {
    const blocks = this.#split(text, { isOver: true, sent: this.#sent() });
    await this.#put(blocks, replyTo);
    const { answers } = this.#options;
    const surplus = this.#sent().slice(blocks.length);
    for (const [index, { end, id }] of surplus.entries()) {
      if (id === '') continue;
      await this.#options.outbox.put({ ...this.#place, n: blocks.length + index }, { text: WITHDRAWN, end, answers });
    }
  }

  /** The blocks of a text: with the ends of those that were sent, if these are its beginning. */
  #split(text: string, { isOver, sent }: { readonly isOver: boolean; readonly sent: readonly SentBlock[] }): Block[] {
    const { sizes } = this.#options;
    const continued = splitBlocks(text, { ...sizes, isOver, ends: sent.map(({ end }) => end) });
    return continues(continued, sent) ? continued : splitBlocks(text, { ...sizes, isOver });
  }

  async #put(blocks: readonly Block[], replyTo: string | undefined): Promise<void> {
    const { outbox, answers } = this.#options;
    for (const [n, block] of blocks.entries()) {
      await outbox.put({ ...this.#place, n }, { ...block, answers, ...(n === 0 && replyTo !== undefined ? { replyTo } : {}) });
    }
  }

  #sent(): readonly SentBlock[] {
    return this.#options.sent(this.#place);
  }
}

/** The text of a block that another attempt of the answer does not have. */
const WITHDRAWN = '(withdrawn)';

function continues(blocks: readonly Block[], sent: readonly SentBlock[]): boolean {
  return sent.every(({ end, hash }, n) => blocks[n]?.end === end && hashOf(blocks[n].text) === hash);
}
