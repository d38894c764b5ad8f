import type { Progress } from '../../../../contracts/schemas/run.js';
import { costText, durationText, tokensText } from '../content/format.js';
import { element, setAttributes, setText } from '../dom/element.js';
import { KeyedList, type Part } from '../dom/keyed-list.js';

/** An amount with its limit. */
interface Gauge {
  readonly name: string;
  readonly used: number;
  /** Absent: no limit. */
  readonly limit?: number;
  readonly text: (amount: number) => string;
}

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

function gaugesOf({ turn, maxTurns, usage, costUsd, limits = {} }: Progress): readonly Gauge[] {
  const { maxTokens, maxCostUsd, deadlineMs, workedMs } = limits;
  const tokens = usage.inputTokens + usage.outputTokens;
  return [
    { name: 'Turns', used: turn, limit: maxTurns, text: String },
    { name: 'Tokens', used: tokens, text: tokensText, ...(maxTokens === undefined ? {} : { limit: maxTokens }) },
    ...(costUsd === undefined
      ? []
      : [{ name: 'Cost', used: costUsd, text: costText, ...(maxCostUsd === undefined ? {} : { limit: maxCostUsd }) }]),
    ...(deadlineMs === undefined || workedMs === undefined
      ? []
      : [{ name: 'Time', used: workedMs, limit: deadlineMs, text: durationText }]),
  ];
}

/** One amount, with a bar if it has a limit. */
class GaugePart implements Part<Gauge> {
  readonly #name = element('span');
  readonly #amount = element('span', { class: 'amount' });
  readonly #bar = element('meter', { min: '0', max: '1', high: '0.8', optimum: '0' });
  readonly element = element('li', {}, this.#name, this.#amount, this.#bar);

  update({ name, used, limit, text }: Gauge): void {
    setText(this.#name, name);
    setText(this.#amount, limit === undefined ? text(used) : `${text(used)} of ${text(limit)}`);
    setAttributes(this.#bar, { hidden: limit === undefined, 'aria-label': `${name} used` });
    this.#bar.value = limit === undefined || limit === 0 ? 0 : Math.min(1, used / limit);
  }
}
