import { visibleText } from '../../../../contracts/text/sanitize-text.js';
import type { ShownApproval } from '../api/run-item.js';
import { button, element, labelled } from '../dom/element.js';
import { callNodes } from './call-nodes.js';
import type { DecisionSender } from './decision-sender.js';

/** A call that waits for approval: what it does, and the decision about it. */
export class ApprovalCard {
  readonly element: HTMLElement;
  readonly #sender: DecisionSender;
  readonly #buttons: readonly HTMLButtonElement[];

  constructor({ callId, tool, title, args, reason, expires }: ShownApproval, sender: DecisionSender) {
    this.#sender = sender;
    const why = element('input', { type: 'text', autocomplete: 'off' });
    this.#buttons = [
      button('Approve', () => void this.#decide(() => sender.approve(callId)), { class: 'primary' }),
      button('Deny', () => void this.#decide(() => sender.deny(callId, why.value.trim()))),
    ];
    const titleId = `approval-${callId}`;
    this.element = element(
      'article',
      { class: 'card', 'aria-labelledby': titleId },
      element('h3', { id: titleId }, 'Approve ', element('code', {}, visibleText(tool)), '?'),
      element('p', { class: 'card-title' }, visibleText(title)),
      reason === undefined ? undefined : element('p', {}, visibleText(reason)),
      ...callNodes(tool, args),
      expires === undefined
        ? undefined
        : element('p', { class: 'note' }, `Expires ${new Date(expires).toLocaleString()}; the call is denied then.`),
      element('div', { class: 'card-actions' }, ...this.#buttons, ...labelled('Reason of a denial', why, `reason-${callId}`)),
    );
  }

  async #decide(send: () => Promise<void>): Promise<void> {
    for (const each of this.#buttons) each.disabled = true;
    try {
      await send();
      this.#sender.onDecided();
    } catch (error) {
      for (const each of this.#buttons) each.disabled = false;
      this.#sender.onError(error);
    }
  }
}
