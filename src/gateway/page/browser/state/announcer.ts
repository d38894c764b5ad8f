import type { Item } from './items-of.js';
import type { RunModel } from './run-model.js';

/** Beginning of an answer that is read aloud. The reader finds the rest on the page. */
const SPOKEN_CHARS = 300;

/** Finds what a reader who does not see the page must hear: whole answers, decisions that wait, the status. Each once. */
export class Announcer {
  #status: string | undefined;
  #pending: ReadonlySet<string> = new Set();
  #answers: ReadonlySet<string> | undefined;

  /** What is new since the last call. What was there when the run was read is not. */
  news({ isLoaded, state, pending }: Pick<RunModel, 'isLoaded' | 'state' | 'pending'>, items: readonly Item[]): readonly string[] {
    if (!isLoaded) return [];
    return [...this.#ofAnswers(items), ...this.#ofPending(pending), ...this.#ofStatus(state?.progress.status)];
  }

  #ofAnswers(items: readonly Item[]): readonly string[] {
    const whole = items.flatMap((item) => (item.kind === 'answer' && !item.answer.isLive ? [item] : []));
    const before = this.#answers;
    this.#answers = new Set(whole.map(({ key }) => key));
    if (!before) return [];
    return whole.flatMap(({ key, answer: { text } }) =>
      before.has(key) || text === '' ? [] : [`The agent answers: ${text.slice(0, SPOKEN_CHARS)}`],
    );
  }

  #ofPending({ approvals, questions }: RunModel['pending']): readonly string[] {
    const before = this.#pending;
    this.#pending = new Set([...approvals, ...questions].map(({ callId }) => callId));
    return [
      ...approvals.flatMap(({ callId, title }) => (before.has(callId) ? [] : [`Approval needed: ${title}`])),
      ...questions.flatMap(({ callId, question }) => (before.has(callId) ? [] : [`Question: ${question}`])),
    ];
  }

  #ofStatus(status: string | undefined): readonly string[] {
    const before = this.#status;
    this.#status = status;
    return status === undefined || before === undefined || before === status ? [] : [`The run is ${status}`];
  }
}
