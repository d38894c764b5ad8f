import type { PendingQuestion } from '../../../../contracts/schemas/question.js';
import type { ShownApproval } from '../api/run-item.js';
import { element, setAttributes } from '../dom/element.js';
import { KeyedList } from '../dom/keyed-list.js';
import type { PendingDecisions } from '../state/run-model.js';
import { ApprovalCard } from './approval-card.js';
import type { DecisionSender } from './decision-sender.js';
import { QuestionCard } from './question-card.js';

type Card =
  | { readonly kind: 'approval'; readonly approval: ShownApproval }
  | { readonly kind: 'question'; readonly question: PendingQuestion };

/** The approvals and questions that wait for the user. */
export class Decisions {
  readonly element = element('section', { class: 'decisions', 'aria-label': 'Waiting for you', hidden: true });
  readonly #list: KeyedList<Card>;

  constructor(sender: DecisionSender) {
    this.#list = new KeyedList<Card>(this.element, {
      keyOf: (card) => (card.kind === 'approval' ? `approval ${card.approval.callId}` : `question ${card.question.callId}`),
      create: (card) =>
        card.kind === 'approval'
          ? { element: new ApprovalCard(card.approval, sender).element, update: () => undefined }
          : { element: new QuestionCard(card.question, sender).element, update: () => undefined },
    });
  }

  update({ approvals, questions }: PendingDecisions): void {
    setAttributes(this.element, { hidden: approvals.length + questions.length === 0 });
    this.#list.update([
      ...approvals.map((approval) => ({ kind: 'approval', approval }) as const),
      ...questions.map((question) => ({ kind: 'question', question }) as const),
    ]);
  }
}
