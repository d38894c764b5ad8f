import type { ExtendInput, Progress } from '../../../../contracts/schemas/run.js';
import { visibleText } from '../../../../contracts/text/sanitize-text.js';
import type { ShownApproval } from '../api/run-item.js';
import { gaugeText } from '../content/gauges.js';
import { limitsOf, type RaisableLimit, reachedLimit } from '../content/limits-of.js';
import { button, element, labelled, setText } from '../dom/element.js';
import { KeyedList, type Part } from '../dom/keyed-list.js';
import type { DecisionSender } from './decision-sender.js';

/** A run that waits at a limit: its limits with their use, and a form that raises them. An approval alone would not let it go on. */
export class LimitCard {
  readonly element: HTMLElement;
  readonly #sender: DecisionSender;
  readonly #named: string;
  readonly #fields = element('div', { class: 'limits' });
  readonly #rows = new Map<string, LimitRow>();
  readonly #list: KeyedList<RaisableLimit>;
  readonly #buttons: readonly HTMLButtonElement[];

  constructor({ approval, progress }: { readonly approval: ShownApproval; readonly progress: Progress }, sender: DecisionSender) {
    this.#sender = sender;
    this.#named = namedLimit(approval);
    const reached = reachedLimit(limitsOf(progress), this.#named);
    this.#list = new KeyedList<RaisableLimit>(this.#fields, {
      keyOf: ({ key }) => key,
      create: (limit) => {
        const row = new LimitRow(limit, { isReached: limit.key === reached?.key });
        this.#rows.set(limit.key, row);
        return row;
      },
    });
    const why = element('input', { type: 'text', autocomplete: 'off' });
    const extend = element('button', { type: 'submit', class: 'primary' }, 'Extend');
    const deny = button('Deny', () => void this.#decide(() => sender.deny(approval.callId, why.value.trim())));
    this.#buttons = [extend, deny];
    const form = element(
      'form',
      {},
      this.#fields,
      element('div', { class: 'card-actions' }, extend, deny, ...labelled('Reason of a denial', why, 'limit-reason')),
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#extend();
    });
    this.element = element(
      'article',
      { class: 'card', 'aria-labelledby': 'limit-title' },
      element('h3', { id: 'limit-title' }, `Limit reached: ${visibleText(this.#named)}`),
      element('p', {}, 'The run waits until you raise the limit. After a denial, it writes its last answer.'),
      form,
      approval.expires === undefined
        ? undefined
        : element('p', { class: 'note' }, `Expires ${new Date(approval.expires).toLocaleString()}; the request is denied then.`),
    );
    this.update(progress);
  }

  /** Shows the limits as they are now: another person may have raised one. */
  update(progress: Progress): void {
    this.#list.update(limitsOf(progress));
  }

  async #extend(): Promise<void> {
    const by: ExtendInput = Object.fromEntries([...this.#rows].flatMap(([key, { added }]) => (added > 0 ? [[key, added]] : [])));
    if (Object.keys(by).length === 0) {
      this.#sender.onError(new Error('Enter a higher limit, or deny the request.'));
      return;
    }
    await this.#decide(() => this.#sender.extend(by));
  }

  async #decide(send: () => Promise<void>): Promise<void> {
    for (const each of this.#buttons) each.disabled = true;
    try {
      await send();
      // a run whose reached limit is still too low keeps its card
      if (!this.element.isConnected) this.#sender.onDecided();
    } catch (error) {
      this.#sender.onError(error);
    } finally {
      for (const each of this.#buttons) each.disabled = false;
    }
  }
}

/** One limit: how much of it is used, and a field for a higher one. */
class LimitRow implements Part<RaisableLimit> {
  readonly #amount = element('span', { class: 'amount' });
  readonly #field: HTMLInputElement;
  readonly #isReached: boolean;
  readonly element: HTMLElement;
  #limit: number | undefined;
  #unit: number;

  constructor({ key, name }: RaisableLimit, { isReached }: { readonly isReached: boolean }) {
    const { unit, words, step } = UNITS[key];
    this.#unit = unit;
    this.#isReached = isReached;
    this.#field = element('input', { type: 'number', step, required: true });
    const [label, field] = labelled(`New limit: ${name}${words}`, this.#field, `limit-${key}`);
    this.element = element('div', { class: isReached ? 'limit reached' : 'limit' }, label, this.#amount, field);
  }

  /** How much the user adds to the limit. Not above 0: nothing. */
  get added(): number {
    // without the dust of binary fractions
    return Number((this.#field.valueAsNumber * this.#unit - (this.#limit ?? 0)).toFixed(6));
  }

  update(limit: RaisableLimit): void {
    setText(this.#amount, `${gaugeText(limit)} used`);
    if (limit.limit === this.#limit) return;
    this.#limit = limit.limit;
    this.#field.min = String(limit.limit / this.#unit);
    this.#field.value = String((this.#isReached ? 2 * limit.limit : limit.limit) / this.#unit);
  }
}

/** The unit of each field. `unit`: how much of the unit of route `extend` it is. */
const UNITS: Readonly<Record<keyof ExtendInput, { readonly unit: number; readonly words: string; readonly step: string }>> = {
  turns: { unit: 1, words: '', step: '1' },
  tokens: { unit: 1, words: '', step: '1' },
  costUsd: { unit: 1, words: ' in USD', step: 'any' },
  deadlineMs: { unit: 1_000, words: ' in seconds', step: 'any' },
};

/** The limit as the run names it. */
function namedLimit({ args, title }: ShownApproval): string {
  const named = typeof args === 'object' && args !== null && !Array.isArray(args) ? args['limit'] : undefined;
  return typeof named === 'string' ? named : title;
}
