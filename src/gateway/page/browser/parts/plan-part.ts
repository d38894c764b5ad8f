import type { PlanStep } from '../content/plan-of.js';
import { element, setAttributes, setText } from '../dom/element.js';

const SIGNS: Readonly<Record<PlanStep['status'], readonly [sign: string, words: string]>> = {
  pending: ['○', 'to do'],
  in_progress: ['◐', 'in progress'],
  done: ['✓', 'done'],
};

/** The plan of a run, from its tool `update_plan`. Hidden without one. */
export class PlanPart {
  readonly #steps = element('ol', { class: 'plan' });
  readonly #count = element('span', { class: 'amount' });
  readonly element = element(
    'section',
    { 'aria-labelledby': 'plan-title', hidden: true },
    element('h2', { id: 'plan-title' }, 'Plan ', this.#count),
    this.#steps,
  );
  #shown = '';

  update(steps: readonly PlanStep[]): void {
    const key = JSON.stringify(steps);
    if (key === this.#shown) return;
    this.#shown = key;
    setAttributes(this.element, { hidden: steps.length === 0 });
    setText(this.#count, `${steps.filter(({ status }) => status === 'done').length} of ${steps.length}`);
    this.#steps.replaceChildren(
      ...steps.map(({ step, status }) => {
        const [sign, words] = SIGNS[status];
        const mark = element('span', { class: 'sign', role: 'img', 'aria-label': words }, sign);
        return element('li', { 'data-status': status }, mark, element('span', {}, step));
      }),
    );
  }
}
