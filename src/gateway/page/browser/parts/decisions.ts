import type { PendingQuestion } from '../../../../contracts/schemas/question.js';
import type { Progress } from '../../../../contracts/schemas/run.js';
import { BUDGET_APPROVAL } from '../../../../contracts/text/ids.js';
import type { ShownApproval } from '../api/run-item.js';
import { element, setAttributes } from '../dom/element.js';
import { KeyedList, type Part } from '../dom/keyed-list.js';
import type { PendingDecisions } from '../state/run-model.js';
import { ApprovalCard } from './approval-card.js';
import type { DecisionSender } from './decision-sender.js';
import { LimitCard } from './limit-card.js';
import { QuestionCard } from './question-card.js';

type Card =
  | { readonly kind: 'approval'; readonly approval: ShownApproval }
  | { readonly kind: 'limit'; readonly approval: ShownApproval; readonly progress: Progress }
  | { readonly kind: 'question'; readonly question: PendingQuestion };

/** What waits, and the progress of the run, whose limits may be reached. */
export interface ShownDecisions extends PendingDecisions {
  /** Undefined until it was read. Nothing waits before. */
  readonly progress: Progress | undefined;
}

/** The approvals, reached limits and questions that wait for the user. */
export class Decisions {
  readonly element = element('section', { class: 'decisions', 'aria-label': 'Waiting for you', hidden: true });
  readonly #list: KeyedList<Card>;

  constructor(sender: DecisionSender) {
    this.#list = new KeyedList<Card>(this.element, { keyOf, create: (card) => partOf(card, sender) });
  }

  update({ approvals, questions, progress }: ShownDecisions): void {
    setAttributes(this.element, { hidden: approvals.length + questions.length === 0 });
    this.#list.update([
      ...approvals.map((approval) => approvalCard(approval, progress)),
      ...questions.map((question) => ({ kind: 'question', question }) as const),
    ]);
  }
}

function approvalCard(approval: ShownApproval, progress: Progress | undefined): Card {
  return progress && approval.callId === BUDGET_APPROVAL ? { kind: 'limit', approval, progress } : { kind: 'approval', approval };
}

/** A limit that is reached again waits under the same id, and is another card. */
function keyOf(card: Card): string {
  const { callId, since } = card.kind === 'question' ? card.question : card.approval;
  return `${card.kind} ${callId} ${since}`;
}

function partOf(card: Card, sender: DecisionSender): Part<Card> {
  switch (card.kind) {
    case 'approval':
      return fixedPart(new ApprovalCard(card.approval, sender).element);
    case 'question':
      return fixedPart(new QuestionCard(card.question, sender).element);
    case 'limit': {
      const limit = new LimitCard(card, sender);
      return { element: limit.element, update: (now) => (now.kind === 'limit' ? limit.update(now.progress) : undefined) };
    }
  }
}

function fixedPart(shown: HTMLElement): Part<Card> {
  return { element: shown, update: () => undefined };
}
