import { type GatewayApi, isPassing } from '../api/gateway-api.js';
import type { RunItem } from '../api/run-item.js';
import { agoText, costText, statusText } from '../content/format.js';
import { element, setAttributes, setText } from '../dom/element.js';
import { KeyedList, type Part } from '../dom/keyed-list.js';
import { runAddress } from '../parts/call-part.js';
import type { Frame } from './frame.js';

/** Time between two looks. Lists of the server lag by about a second. */
const LOOK_EVERY_MS = 3_000;

/** `/`: the runs, newest first, kept up to date. */
export async function showList(api: GatewayApi, frame: Frame): Promise<void> {
  frame.setTitle('Runs');
  const rows = element('ul', { class: 'runs' });
  const empty = element('p', { class: 'note', hidden: true }, 'No runs yet.');
  const runs = new KeyedList<RunItem>(rows, { keyOf: ({ runId }) => runId, create: () => new RunRow() });
  frame.main.replaceChildren(element('h1', {}, 'Runs'), empty, rows);
  for (;;) {
    if (document.visibilityState === 'visible') {
      const page = await api.get<{ runs: RunItem[] }>('/v1/runs').catch(ifPassing);
      if (page) {
        runs.update(page.runs);
        setAttributes(empty, { hidden: page.runs.length > 0 });
      }
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** A run in the list. */
class RunRow implements Part<RunItem> {
  readonly #link = element('a', { class: 'task' });
  readonly #status = element('span', { class: 'badge' });
  readonly #facts = element('span', { class: 'facts' });
  readonly element = element('li', {}, this.#link, this.#status, this.#facts);

  update({ runId, task, status, agent, model, turns, costUsd, startedAt }: RunItem): void {
    setAttributes(this.#link, { href: runAddress(runId) });
    setText(this.#link, task || runId);
    setText(this.#status, statusText(status));
    setAttributes(this.#status, { 'data-status': status });
    const facts = [
      agent,
      model,
      turns === undefined ? undefined : `${turns} turns`,
      costUsd === undefined ? undefined : costText(costUsd),
      agoText(startedAt, Date.now()),
    ];
    setText(this.#facts, facts.filter((fact) => fact !== undefined).join(' · '));
  }
}

/** The next look may succeed. */
function ifPassing(error: unknown): undefined {
  if (!isPassing(error)) throw error;
}
