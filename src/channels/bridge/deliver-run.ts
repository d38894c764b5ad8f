import { CHANNEL_LIMITS } from '../../contracts/constants/limits.js';
import type { RunResult } from '../../contracts/schemas/run.js';
import { type Reply, readReply } from '../reply/read-reply.js';
import type { ChannelSettings } from './channel-settings.js';
import { endNotice } from './end-notice.js';
import { pacedUpdates, type ReadUpdates } from './paced-updates.js';
import { PartDelivery, type PartDeliveryOptions } from './part-delivery.js';
import type { AnswerUpdate } from './run-answers.js';

/** A run, and where its answers go. */
export interface RunToDeliver extends Omit<PartDeliveryOptions, 'sizes'> {
  readonly conversation: string;
  readonly runId: string;
  readonly settings: ChannelSettings;
  /** Ids of the messages of the conversation, the one that the run answers first. */
  readonly messageIds: readonly string[];
  /** Reads the updates of the run, from its beginning. */
  readonly updates: ReadUpdates;
}

/**
 * Sends the answers of a run to its conversation, in order and each once, as far as they were not sent before. Returns true after its
 * result, and false if the updates ended before.
 */
export async function deliverRun(run: RunToDeliver): Promise<boolean> {
  return await new RunDelivery(run).run();
}

interface GrowingAnswer {
  readonly answer: string;
  readonly text: string;
  readonly thinking: string;
}

class RunDelivery {
  readonly #run: RunToDeliver;
  /** The texts of the answers that were settled. */
  readonly #texts = new Set<string>();
  #growing: (Omit<GrowingAnswer, 'thinking'> & { readonly isOver?: true }) | undefined;
  /** The last answer, if it was interrupted. */
  #interrupted: GrowingAnswer | undefined;
  /** The answer that became too long to be sent while it grows. */
  #long: string | undefined;

  constructor(run: RunToDeliver) {
    this.#run = run;
  }

  async run(): Promise<boolean> {
    const pace = { growEveryMs: CHANNEL_LIMITS.growEveryMs, idleMs: () => this.#idleMs };
    for await (const update of pacedUpdates(this.#run.updates, pace)) {
      if (update === 'idle') await this.#idle();
      else if (await this.#take(update)) return true;
    }
    return false;
  }

  /** True after the result. */
  async #take(update: AnswerUpdate): Promise<boolean> {
    switch (update.type) {
      case 'growing':
        this.#growing = update;
        if (this.#interrupted?.answer !== update.answer) this.#interrupted = undefined;
        if (this.#isLive) await this.#grow(update);
        return false;
      case 'settled':
        this.#growing = undefined;
        this.#interrupted = update.isPartial ? update : undefined;
        if (!update.isPartial) await this.#settle(update);
        return false;
      case 'asks':
        await this.#part(`asks/${update.callId}`).settle({ text: update.text });
        return false;
      case 'result':
        await this.#end(update.result);
        return true;
    }
  }

  async #grow({ answer, text }: Omit<GrowingAnswer, 'thinking'>): Promise<void> {
    if (this.#long === answer) return;
    const read = this.#textOf(this.#read(text, false));
    if (read.text.length > CHANNEL_LIMITS.liveCharsMax) this.#long = answer;
    else await this.#part(answer).grow(read);
  }

  async #settle({ answer, text, thinking }: GrowingAnswer): Promise<void> {
    const { thinking: mode, send } = this.#run.settings;
    if (send === 'final') return;
    this.#texts.add(text);
    const reply = this.#read(text, true);
    const thoughts = mode === 'separate' ? [thinking, reply.thinking].filter((each) => each !== '').join('\n\n') : '';
    if (thoughts !== '' && !reply.isSilent) await this.#part(`${answer}/thinking`).settle({ text: quoted(thoughts) });
    const included = mode === 'included' && thinking !== '' && !reply.isSilent ? `${thinking}\n\n` : '';
    await this.#part(answer).settle({ ...this.#textOf(reply), text: `${included}${reply.text}` });
  }

  /** The output, unless an answer was the same text, and a notice if the run did not complete. */
  async #end(result: RunResult): Promise<void> {
    const notice = endNotice(result);
    const last = this.#interrupted ?? (this.#growing && { ...this.#growing, thinking: '' });
    // nothing replaces the beginning of an answer that a stop interrupted
    if (notice !== undefined && last) await this.#settle(last);
    if (!this.#texts.has(result.output) && result.output !== '')
      await this.#part('output').settle(this.#textOf(this.#read(result.output, true)));
    if (notice !== undefined) await this.#part('end').settle({ text: notice });
  }

  async #idle(): Promise<void> {
    const growing = this.#growing;
    if (growing && this.#long !== growing.answer) await this.#part(growing.answer).rest(this.#textOf(this.#read(growing.text, false)));
  }

  /** Undefined while nothing is to be sent that is not settled. An answer that is over did not stop: its message is being read. */
  get #idleMs(): number | undefined {
    const { idleMs } = this.#run.settings;
    return this.#isLive && this.#growing && !this.#growing.isOver && idleMs > 0 ? idleMs : undefined;
  }

  /** Thinking comes before its answer, so an answer with thinking is sent when it is complete. */
  get #isLive(): boolean {
    const { send, thinking } = this.#run.settings;
    return send === 'live' && thinking === 'suppressed' && this.#run.outbox.edits;
  }

  #read(text: string, isOver: boolean): Reply {
    const { thinking, silentToken } = this.#run.settings;
    return readReply(text, { thinking, silentToken, isOver });
  }

  /** The text with the message that it replies to: one of this conversation. */
  #textOf({ text, replyTo }: Reply): { readonly text: string; readonly replyTo?: string | undefined } {
    const { messageIds } = this.#run;
    return { text, replyTo: replyTo === 'current' ? messageIds[0] : messageIds.find((id) => id === replyTo) };
  }

  #part(part: string): PartDelivery {
    const { conversation, runId, settings, outbox, sent, answers } = this.#run;
    return new PartDelivery({ conversation, run: runId, part }, { outbox, sent, answers, sizes: settings.sizes });
  }
}

function quoted(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}
