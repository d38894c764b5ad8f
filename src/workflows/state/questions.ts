import { QUESTION_LIMITS } from '../../contracts/constants/limits.js';
import type { CarriedState } from '../../contracts/schemas/carried-state.js';
import type { AnsweredQuestion, PendingQuestion } from '../../contracts/schemas/question.js';

/** The pending and ended questions of a run. Handlers write them and the loop reads them. Nothing here awaits. */
export class Questions {
  readonly #pending: Map<string, PendingQuestion>;
  readonly #answered: Map<string, AnsweredQuestion>;
  /** The calls at work that may ask. */
  readonly #asking = new Set<string>();
  /** The part of the search attribute that was last published. */
  publishedCount: number;

  constructor(carried?: CarriedState['questions']) {
    this.#pending = new Map(carried?.pending.map((question) => [question.callId, question]));
    this.#answered = new Map(carried?.answered.map((question) => [question.callId, question]));
    this.publishedCount = this.#pending.size;
  }

  get pendingCount(): number {
    return this.#pending.size;
  }

  /** True if so many more questions may wait. */
  hasRoom(count: number): boolean {
    return this.#pending.size + count <= QUESTION_LIMITS.pendingMax;
  }

  add(question: PendingQuestion): void {
    this.#pending.set(question.callId, question);
  }

  /** Lets a call ask, until `stopListening`. */
  listenTo(call: string): void {
    this.#asking.add(call);
  }

  stopListening(call: string): void {
    this.#asking.delete(call);
  }

  mayAsk(call: string): boolean {
    return this.#asking.has(call);
  }

  /** The pending questions of a running call. */
  pendingOf(call: string): readonly PendingQuestion[] {
    return [...this.#pending.values()].filter((question) => question.call === call);
  }

  /** True while a running call waits for an answer. */
  get holdsCalls(): boolean {
    return this.#asking.size > 0 && [...this.#pending.values()].some(({ call }) => call !== undefined);
  }

  /** Drops the oldest ended questions. Called after the calls of an answer, when nothing has to be read any more. */
  prune(): void {
    for (const callId of this.#answered.keys()) {
      if (this.#answered.size <= QUESTION_LIMITS.answeredKept) return;
      this.#answered.delete(callId);
    }
  }

  pending(callId: string): PendingQuestion | undefined {
    return this.#pending.get(callId);
  }

  answered(callId: string): AnsweredQuestion | undefined {
    return this.#answered.get(callId);
  }

  /** Ends a question. */
  end(ended: AnsweredQuestion): void {
    this.#pending.delete(ended.callId);
    this.#answered.set(ended.callId, ended);
  }

  /** The questions that have expired at `now` (milliseconds since 1970). */
  due(now: number): readonly PendingQuestion[] {
    return [...this.#pending.values()].filter(({ expires }) => Date.parse(expires) <= now);
  }

  /** The next expiry in milliseconds since 1970; undefined without a pending question. */
  get nextExpiry(): number | undefined {
    const times = Array.from(this.#pending.values(), ({ expires }) => Date.parse(expires));
    return times.length === 0 ? undefined : Math.min(...times);
  }

  list(): NonNullable<CarriedState['questions']> {
    return { pending: [...this.#pending.values()], answered: [...this.#answered.values()] };
  }

  /** The state that continue-as-new carries over; nothing before the first question. */
  carry(): Pick<CarriedState, 'questions'> {
    return this.#pending.size + this.#answered.size === 0 ? {} : { questions: this.list() };
  }
}
