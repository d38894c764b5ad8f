import { setTimeout as delay } from 'node:timers/promises';
import { type ReadRun, RunMessages } from '../../client/watch/run-messages.js';
import type { WatchItem } from '../../client/watch/watch-run.js';
import { SESSION_LIMITS } from '../../contracts/constants/limits.js';
import type { RunEvent } from '../../contracts/event.js';
import { answersOf, isFinalAnswer, textOf } from '../../contracts/message-text.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { Message } from '../../contracts/schemas/message.js';
import type { RunResult } from '../../contracts/schemas/run.js';
import type { StreamEntry } from '../../streams/stream.js';

/** What a run says, in order. `answer`: the name of one answer of its model, unique in the run. */
export type AnswerUpdate =
  /** The answer that the model writes, so far. `isOver`: the attempt writes no more of it. A later attempt begins anew. */
  | { readonly type: 'growing'; readonly answer: string; readonly text: string; readonly isOver?: true }
  /** The whole answer, as the transcript has it. `isPartial`: it was interrupted. */
  | { readonly type: 'settled'; readonly answer: string; readonly text: string; readonly thinking: string; readonly isPartial: boolean }
  /** The run waits for a person. */
  | { readonly type: 'asks'; readonly callId: string; readonly text: string }
  /** The last update. */
  | { readonly type: 'result'; readonly result: RunResult };

/** The run whose answers are read. */
export interface AnsweringRun extends ReadRun {
  readonly runId: string;
  watch(options: { readonly signal: AbortSignal }): AsyncIterable<WatchItem>;
}

/**
 * Reads the answers of a run from its beginning. Tokens and events arrive by two ways, so the transcript decides: each answer is settled
 * before the next one begins. Ends without a result if the signal aborts. Throws as `RunHandle.watch` does: `RUN_NOT_FOUND`.
 */
export async function* runAnswers(run: AnsweringRun, signal: AbortSignal): AsyncGenerator<AnswerUpdate> {
  const answers = new AnswerReader(run, signal);
  for await (const item of run.watch({ signal })) {
    if (item.type === 'stream') yield* answers.token(item.event);
    else if (item.type === 'event') yield* answers.event(item.event);
    else if (item.type === 'result') {
      yield* answers.settleThrough(undefined);
      yield { type: 'result', result: item.result };
    }
  }
}

/** Where an answer is: its turn, and whether it is the reserved final one, which has the number of the last turn. */
interface AnswerPlace {
  readonly turn: number;
  readonly isFinal: boolean;
}

class AnswerReader {
  readonly #messages: RunMessages;
  readonly #signal: AbortSignal;
  /** The last answer that was settled. */
  #settled: AnswerPlace = { turn: 0, isFinal: false };
  #growing: (AnswerPlace & { text: string; hasGap: boolean }) | undefined;

  constructor(run: ReadRun, signal: AbortSignal) {
    this.#messages = new RunMessages(run);
    this.#signal = signal;
  }

  async *token(entry: StreamEntry): AsyncGenerator<AnswerUpdate> {
    const { turn, type } = entry;
    if (type === 'reset') {
      const place = { turn, isFinal: entry.final === true };
      if (this.#growing && isBefore(this.#growing, place)) yield* this.settleThrough(this.#growing);
      this.#growing = { ...place, text: '', hasGap: false };
    }
    const growing = this.#growing;
    if (growing?.turn !== turn || !isBefore(this.#settled, growing)) return;
    if (type === 'gap') growing.hasGap = true;
    if (type === 'end') yield* this.#over(turn);
    if (type !== 'text' || growing.hasGap) return;
    growing.text += entry.text;
    yield { type: 'growing', answer: nameOf(growing), text: growing.text };
  }

  async *event(event: RunEvent): AsyncGenerator<AnswerUpdate> {
    if (event.type === 'model.completed') {
      const { turn } = event;
      // it may overtake the last tokens
      yield* this.#over(turn);
      yield* this.settleThrough({ turn, isFinal: this.#growing?.turn === turn && this.#growing.isFinal });
    } else if (event.type === 'approval.asked') {
      yield { type: 'asks', callId: event.callId, text: `Waiting for approval: ${event.title}` };
    } else if (event.type === 'question.asked') {
      const choices = (event.choices ?? []).map((choice, index) => `\n${index + 1}. ${choice}`).join('');
      yield { type: 'asks', callId: event.callId, text: `${event.question}${choices}` };
    }
  }

  /** The model writes no more of the answer of a turn: its message may take long to be read. */
  *#over(turn: number): Generator<AnswerUpdate> {
    const growing = this.#growing;
    if (growing?.turn !== turn || growing.text === '' || !isBefore(this.#settled, growing)) return;
    yield { type: 'growing', answer: nameOf(growing), text: growing.text, isOver: true };
  }

  /** Settles the answers up to a place, or all. */
  async *settleThrough(place: AnswerPlace | undefined): AsyncGenerator<AnswerUpdate> {
    const isDue = (message: Message): boolean => !place || !isBefore(place, placeOf(message));
    const has = (kept: readonly Message[]): boolean => place !== undefined && answersOf(kept).some((each) => isSame(placeOf(each), place));
    for (const message of answersOf(await this.#read(has))) {
      const at = placeOf(message);
      if (!isBefore(this.#settled, at) || !isDue(message)) continue;
      this.#settled = at;
      const thinking = message.parts.flatMap((part) => (part.type === 'thinking' ? [part.text] : [])).join('\n\n');
      yield { type: 'settled', answer: nameOf(at), text: textOf(message), thinking, isPartial: message.partial === true };
    }
  }

  /** Reads the transcript, once a worker answers. */
  async #read(has: (messages: readonly Message[]) => boolean): Promise<readonly Message[]> {
    while (!this.#signal.aborted) {
      try {
        return await this.#messages.until(has);
      } catch (error) {
        if (!(error instanceof PerdureError) || error.code !== 'NO_WORKER') throw error;
        await delay(SESSION_LIMITS.followEveryMs, undefined, { signal: this.#signal }).catch(ignoreAbort);
      }
    }
    return [];
  }
}

function placeOf(message: Message): AnswerPlace {
  return { turn: message.turn ?? 0, isFinal: isFinalAnswer(message) };
}

function isSame(a: AnswerPlace, b: AnswerPlace): boolean {
  return a.turn === b.turn && a.isFinal === b.isFinal;
}

function isBefore(a: AnswerPlace, b: AnswerPlace): boolean {
  return a.turn < b.turn || (a.turn === b.turn && !a.isFinal && b.isFinal);
}

function nameOf({ turn, isFinal }: AnswerPlace): string {
  return `${turn}${isFinal ? '.final' : ''}`;
}

function ignoreAbort(error: unknown): void {
  if (!(error instanceof Error) || error.name !== 'AbortError') throw error;
}
