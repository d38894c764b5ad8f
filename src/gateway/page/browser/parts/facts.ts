import type { Progress } from '../../../../contracts/schemas/run.js';
import { tokensText } from '../content/format.js';
import { type Gauge, gaugesOf, gaugeText } from '../content/gauges.js';
import { element, setAttributes, setText } from '../dom/element.js';
import { KeyedList, type Part } from '../dom/keyed-list.js';

/** What a run has used of its limits, and which agent and model work on it. */
export class Facts {
  readonly #line = element('p', { class: 'facts-line' });
  readonly #gauges = element('ul', { class: 'gauges' });
  readonly #list = new KeyedList<Gauge>(this.#gauges, { keyOf: ({ name }) => name, create: () => new GaugePart() });
  readonly element = element('section', { class: 'facts', 'aria-labelledby': 'facts-title' });

  constructor() {
    this.element.append(element('h2', { id: 'facts-title' }, 'Budget'), this.#gauges, this.#line);
  }

  update(progress: Progress): void {
    const { agent, model, waitingFor, usage } = progress;
    this.#list.update(gaugesOf(progress));
    const cached = usage.cacheReadTokens > 0 ? `${tokensText(usage.cacheReadTokens)} tokens from cache` : undefined;
    const wait = waitingFor === undefined ? undefined : `waiting for ${waitingFor}`;
    setText(this.#line, [`${agent} on ${model}`, cached, wait].filter((fact) => fact !== undefined).join(' · '));
  }
}

/** One amount, with a bar if it has a limit. */
class GaugePart implements Part<Gauge> {
  readonly #name = element('span');
  readonly #amount = element('span', { class: 'amount' });
  readonly #bar = element('meter', { min: '0', max: '1', high: '0.8', optimum: '0' });
  readonly element = element('li', {}, this.#name, this.#amount, this.#bar);

  update(gauge: Gauge): void {
    const { name, used, limit } = gauge;
    setText(this.#name, name);
    setText(this.#amount, gaugeText(gauge));
    setAttributes(this.#bar, { hidden: limit === undefined, 'aria-label': `${name} used` });
    this.#bar.value = limit === undefined || limit === 0 ? 0 : Math.min(1, used / limit);
  }
}
