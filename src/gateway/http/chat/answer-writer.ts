import type { RunMessages } from '../../../client/watch/run-messages.js';
import type { RunEvent } from '../../../contracts/event.js';
import { answersOf, isFinalAnswer, textOf } from '../../../contracts/message-text.js';
import type { ApprovalList, DecidedApproval } from '../../../contracts/schemas/approval.js';
import type { Message } from '../../../contracts/schemas/message.js';
import type { RunResult } from '../../../contracts/schemas/run.js';
import { BUDGET_APPROVAL } from '../../../contracts/text/ids.js';
import type { SentEvent } from '../events/sent-event.js';
import { AnswerStep } from './answer-step.js';
import type { AnswerMetadata, UiChunk } from './ui-chunk.js';

/** What the writer asks of its run. */
export interface AnswerSource {
  readonly runId: string;
  readonly messages: Pick<RunMessages, 'until'>;
  /** The approvals that wait for a decision, and the latest decisions. */
  readonly approvals: () => Promise<Pick<ApprovalList, 'pending' | 'decided'>>;
}

/** Options of `AnswerWriter`. */
export interface AnswerOptions {
  /** The client has the steps before this turn, and an older form of its step. @default 0: it has nothing */
  readonly fromTurn?: number | undefined;
  /** True: the message continues while a person decides about a call. @default false: it ends there */
  readonly isWhole?: boolean;
}

/**
 * Turns the events of a run into the chunks of one assistant message: a step for each answer of the model. Tokens and events of a run come by
 * two ways, so the transcript decides: what was shown of an answer is compared with it, and shown anew if it differs.
 *
 * Contract: `take` may be called again for the same event after it threw. It throws as a query does: `NO_WORKER` without a worker.
 */
export class AnswerWriter {
  readonly #source: AnswerSource;
  readonly #fromTurn: number;
  readonly #isWhole: boolean;
  #chunks: UiChunk[] = [];
  #step: AnswerStep | undefined;
  /** The last turn whose step ended, and whether its final answer did. */
  #endedTurn = 0;
  #hasFinal = false;
  /** The text of the last answer that was shown whole. */
  #lastText = '';
  #isOver = false;

  constructor(source: AnswerSource, { fromTurn = 0, isWhole = false }: AnswerOptions = {}) {
    this.#source = source;
    this.#fromTurn = fromTurn;
    this.#isWhole = isWhole;
    const { runId } = source;
    this.#chunks.push({ type: 'start', messageId: runId, messageMetadata: { runId } });
  }

  /** True after the last chunk: the run ended, or a person must decide. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Returns the chunks since the last call. */
  drain(): UiChunk[] {
    const chunks = this.#chunks;
    this.#chunks = [];
    return chunks;
  }

  /** Takes an event of the run. */
  async take({ type, data, cursor }: SentEvent): Promise<void> {
    switch (type) {
      case 'text.delta':
      case 'thinking.delta':
      case 'attempt.reset':
        return await this.#token(type, data as TokenData, cursor.token?.isFinal === true);
      case 'result':
        return await this.#end((data as { result: RunResult }).result);
      case 'gap':
        return undefined;
      default:
        // every other type is that of a run event
        return await this.#event(data as RunEvent);
    }
  }

  async #token(type: 'text.delta' | 'thinking.delta' | 'attempt.reset', { turn, text = '' }: TokenData, isFinal: boolean): Promise<void> {
    const step = await this.#enter(turn, isFinal);
    if (!step) return;
    const chunks = type === 'attempt.reset' ? step.reset() : step.add(type === 'text.delta' ? 'text' : 'reasoning', text);
    this.#chunks.push(...chunks);
  }

  /** Most events of a run are no part of a chat. */
  async #event(event: RunEvent): Promise<void> {
    if (event.type === 'model.completed') {
      const step = await this.#enter(event.turn, this.#step?.isFinal === true && this.#step.turn === event.turn);
      await this.#settle(step, event.text);
    } else if (event.type === 'tool.call') {
      const step = await this.#enter(event.turn, false);
      await this.#settle(step);
      // a page sends decisions once each call that it shows has one, or a result
      if (step && (this.#isWhole || !step.hasApprovals)) this.#chunks.push(...step.call(event.callId, { name: event.tool, args: {} }));
    } else if (event.type === 'approval.asked') {
      await this.#ask(event);
    } else if (event.type === 'approval.decided') {
      const { callId, decision, reason } = event;
      this.#chunks.push(...(this.#step?.decide(callId, { approved: decision === 'approved', reason }) ?? []));
    } else if (event.type === 'turn.ended') {
      // it may come after the first tokens of the reserved final answer, which has the same number
      if (this.#step?.turn === event.turn && !this.#step.isFinal) await this.#leave();
    } else if (event.type === 'waiting') {
      this.#chunks.push({ type: 'data-waiting', data: { for: event.for }, transient: true });
    }
  }

  /** Shows the calls that wait for approval. Unless the message is whole, it ends there: the decisions come as another request. */
  async #ask({ turn, callId, tool, reason }: Extract<RunEvent, { type: 'approval.asked' }>): Promise<void> {
    if (callId === BUDGET_APPROVAL) return;
    const step = await this.#enter(turn, false);
    await this.#settle(step);
    if (!step) return;
    const { pending, decided } = await this.#source.approvals();
    const open = pending.filter((approval) => approval.turn === turn && approval.callId !== BUDGET_APPROVAL);
    if (!open.some((approval) => approval.callId === callId)) {
      this.#chunks.push(...step.call(callId, { name: tool, args: {} }), ...step.ask(callId, reason));
      return;
    }
    for (const approval of open) {
      const { callId: id, tool: name, args, reason: why = '' } = approval;
      this.#chunks.push(...step.call(id, { name, args }), ...step.ask(id, why));
    }
    this.#chunks.push(...decisionsIn(step, decided));
    if (this.#isWhole) return;
    this.#chunks.push(...step.close(), { type: 'finish-step' });
    this.#finish('tool-calls', { runId: this.#source.runId });
  }

  /** The step of an answer, which begins now if it is a later one. Undefined for one that the client has. */
  async #enter(turn: number, isFinal: boolean): Promise<AnswerStep | undefined> {
    const current = this.#step;
    if (current && (current.turn > turn || (current.turn === turn && current.isFinal && !isFinal))) return undefined;
    if (current?.turn === turn && current.isFinal === isFinal) return current;
    if (turn < Math.max(this.#fromTurn, this.#endedTurn) || (turn === this.#endedTurn && (this.#hasFinal || !isFinal))) return undefined;
    await this.#leave();
    // an answer without text has no tokens, and its events may come after the tokens of the next one
    if (Math.max(this.#endedTurn, this.#fromTurn - 1) < (isFinal ? turn : turn - 1)) await this.#showMissed({ turn, isFinal });
    const step = new AnswerStep(this.#source.runId, { turn, isFinal });
    this.#step = step;
    this.#chunks.push({ type: turn === this.#fromTurn && !isFinal ? 'reset-step' : 'start-step' });
    return step;
  }

  /** Ends the step: its answer and the results of its calls are in the transcript by now. */
  async #leave(): Promise<void> {
    const step = this.#step;
    if (!step) return;
    await this.#settle(step);
    const calls = (step.message?.parts ?? []).flatMap((part) => (part.type === 'tool_call' ? [part.callId] : []));
    const messages = await this.#source.messages.until((kept) => calls.every((callId) => kept.some((each) => hasResult(each, callId))));
    // tokens of the next step may come before the events of the decisions
    const { decided } = step.isAsking ? await this.#source.approvals() : { decided: [] };
    this.#chunks.push(...decisionsIn(step, decided), ...step.results(messages), ...step.close(), { type: 'finish-step' });
    this.#step = undefined;
    this.#endedTurn = step.turn;
    this.#hasFinal = step.isFinal;
  }

  /** Shows the whole answer of a step. `head`: its beginning, for an answer that a compaction removed from the transcript. */
  async #settle(step: AnswerStep | undefined, head = ''): Promise<void> {
    if (!step || step.message) return;
    const find = (kept: readonly Message[]): Message | undefined =>
      answersOf(kept).find((answer) => answer.turn === step.turn && isFinalAnswer(answer) === step.isFinal);
    const answer = find(await this.#source.messages.until((kept) => find(kept) !== undefined));
    if (answer) {
      this.#lastText = textOf(answer);
      this.#chunks.push(...step.settle(answer));
    } else if (!step.hasText) this.#chunks.push(...step.add('text', head));
  }

  async #end(result: RunResult): Promise<void> {
    const { runId, reason, output, turns, usage, costUsd, error } = result;
    await this.#leave();
    if (output !== this.#lastText) await this.#showMissed();
    const { inputTokens, outputTokens } = usage;
    const metadata = { runId, reason, turns, usage: { inputTokens, outputTokens }, ...(costUsd === undefined ? {} : { costUsd }) };
    if (reason === 'cancelled') {
      this.#over({ type: 'message-metadata', messageMetadata: metadata }, { type: 'abort', reason: error?.message ?? 'cancelled' });
    } else if (reason === 'error') {
      const errorText = error ? `${error.type}: ${error.message}` : 'the run failed';
      this.#over({ type: 'message-metadata', messageMetadata: metadata }, { type: 'error', errorText });
    } else this.#finish(FINISH_REASONS[reason] ?? 'other', metadata);
  }

  /** Shows the answers before a step, or all, of which no token and no event came. */
  async #showMissed(before?: Pick<AnswerStep, 'turn' | 'isFinal'>): Promise<void> {
    const { turn: end, isFinal } = before ?? { turn: Number.POSITIVE_INFINITY, isFinal: false };
    const last = isFinal ? end : end - 1;
    const answers = answersOf(await this.#source.messages.until((kept) => answersOf(kept).some((answer) => answer.turn === last)));
    for (const answer of answers) {
      const { turn = 0 } = answer;
      if (turn > last || (turn === last && before !== undefined && isFinalAnswer(answer))) break;
      await this.#enter(turn, isFinalAnswer(answer));
      await this.#leave();
    }
  }

  #finish(finishReason: Extract<UiChunk, { type: 'finish' }>['finishReason'], messageMetadata: AnswerMetadata): void {
    this.#over({ type: 'finish', finishReason, messageMetadata });
  }

  #over(...chunks: readonly UiChunk[]): void {
    this.#chunks.push(...chunks);
    this.#isOver = true;
  }
}

/** The data of a token event. */
interface TokenData {
  readonly turn: number;
  readonly text?: string;
}

const FINISH_REASONS: Readonly<Partial<Record<RunResult['reason'], 'stop' | 'length' | 'content-filter'>>> = {
  completed: 'stop',
  max_tokens: 'length',
  refusal: 'content-filter',
};

function decisionsIn(step: AnswerStep, decided: readonly DecidedApproval[]): UiChunk[] {
  return decided.flatMap(({ callId, decision, reason }) => step.decide(callId, { approved: decision === 'approved', reason }));
}

function hasResult({ parts }: Message, callId: string): boolean {
  return parts.some((part) => part.type === 'tool_result' && part.callId === callId);
}
