import { BUDGET_APPROVAL } from '../../../../contracts/text/ids.js';
import type { ShownApproval } from '../api/run-item.js';
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
    const texts = [
      ...approvals.map((approval) => [keyOf(approval), textOf(approval)] as const),
      ...questions.map((question) => [keyOf(question), `Question: ${question.question}`] as const),
    ];
    this.#pending = new Set(texts.map(([key]) => key));
    return texts.flatMap(([key, text]) => (before.has(key) ? [] : [text]));
  }

  #ofStatus(status: string | undefined): readonly string[] {
    const before = this.#status;
    this.#status = status;
    return status === undefined || before === undefined || before === status ? [] : [`The run is ${status}`];
  }
}

/** A limit that is reached again waits under the same id. */
function keyOf({ callId, since }: { readonly callId: string; readonly since: string }): string {
  return `${callId} ${since}`;
}

function textOf({ callId, title }: ShownApproval): string {
  return callId === BUDGET_APPROVAL ? `Waiting for an ${title}` : `Approval needed: ${title}`;
}
