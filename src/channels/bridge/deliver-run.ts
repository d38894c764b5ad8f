import { setTimeout as delay } from 'node:timers/promises';
import type { RunResult } from '../../contracts/schemas/run.js';
import { type Reply, readReply } from '../reply/read-reply.js';
import type { ChannelSettings } from './channel-settings.js';
import { endNotice } from './end-notice.js';
import { PartDelivery, type PartDeliveryOptions } from './part-delivery.js';
import type { AnswerUpdate } from './run-answers.js';

/** A run, and where its answers go. */
export interface RunToDeliver extends Omit<PartDeliveryOptions, 'sizes'> {
  readonly conversation: string;
  readonly runId: string;
  readonly settings: ChannelSettings;
  /** Ids of the messages of the conversation, the one that the run answers first. */
  readonly messageIds: readonly string[];
  /** The updates of the run, from its beginning. */
  readonly updates: AsyncIterable<AnswerUpdate>;
}

/**
 * Sends the answers of a run to its conversation, in order and each once, as far as they were not sent before. Returns true after its
 * result, and false if the updates ended before.
 */
export async function deliverRun(run: RunToDeliver): Promise<boolean> {
  return await new RunDelivery(run).run();
}

class RunDelivery {
  readonly #run: RunToDeliver;
  /** The texts of the answers that were settled. */
  readonly #texts = new Set<string>();
  #growing: { readonly answer: string; readonly text: string } | undefined;

  constructor(run: RunToDeliver) {
    this.#run = run;
  }

  async run(): Promise<boolean> {
    for await (const update of withIdle(this.#run.updates, () => this.#idleMs)) {
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
        if (this.#isLive) await this.#part(update.answer).grow(this.#textOf(this.#read(update.text, false)));
        return false;
      case 'settled':
        this.#growing = undefined;
        this.#texts.add(update.text);
        if (this.#run.settings.send !== 'final' && !update.isPartial) await this.#settle(update);
        return false;
      case 'asks':
        await this.#part(`asks/${update.callId}`).settle({ text: update.text });
        return false;
      case 'result':
        await this.#end(update.result);
        return true;
    }
  }

  async #settle({
    answer,
    text,
    thinking,
  }: Pick<Extract<AnswerUpdate, { type: 'settled' }>, 'answer' | 'text' | 'thinking'>): Promise<void> {
    const { thinking: mode } = this.#run.settings;
    const reply = this.#read(text, true);
    const thoughts = mode === 'separate' ? [thinking, reply.thinking].filter((each) => each !== '').join('\n\n') : '';
    if (thoughts !== '' && !reply.isSilent) await this.#part(`${answer}/thinking`).settle({ text: quoted(thoughts) });
    const included = mode === 'included' && thinking !== '' && !reply.isSilent ? `${thinking}\n\n` : '';
    await this.#part(answer).settle({ ...this.#textOf(reply), text: `${included}${reply.text}` });
  }

  /** The output, unless an answer was the same text, and a notice if the run did not complete. */
  async #end(result: RunResult): Promise<void> {
    const isCovered = this.#run.settings.send !== 'final' && this.#texts.has(result.output);
    if (!isCovered && result.output !== '') await this.#part('output').settle(this.#textOf(this.#read(result.output, true)));
    const notice = endNotice(result);
    if (notice !== undefined) await this.#part('end').settle({ text: notice });
  }

  async #idle(): Promise<void> {
    const growing = this.#growing;
    if (growing) await this.#part(growing.answer).rest(this.#textOf(this.#read(growing.text, false)));
  }

  /** Undefined while nothing is to be sent that is not settled. */
  get #idleMs(): number | undefined {
    const { idleMs } = this.#run.settings;
    return this.#isLive && this.#growing && idleMs > 0 ? idleMs : undefined;
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

/** The updates, with `idle` once when none came for some time. */
async function* withIdle(updates: AsyncIterable<AnswerUpdate>, idleMs: () => number | undefined): AsyncGenerator<AnswerUpdate | 'idle'> {
  const iterator = updates[Symbol.asyncIterator]();
  try {
    for (let next = iterator.next(); ; next = iterator.next()) {
      const ms = idleMs();
      const come = new AbortController();
      if (ms !== undefined) {
        const isIdle = delay(ms, true, { signal: come.signal }).catch(no);
        if (await Promise.race([isIdle, next.then(no, no)])) yield 'idle';
        come.abort();
      }
      const { done, value } = await next;
      if (done) return;
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}

function no(): boolean {
  return false;
}
