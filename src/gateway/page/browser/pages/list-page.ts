import { type GatewayApi, isPassing, newMessageId } from '../api/gateway-api.js';
import type { RunItem, SessionItem } from '../api/run-item.js';
import { agoText, costText, statusText } from '../content/format.js';
import { button, element, labelled, setAttributes, setText } from '../dom/element.js';
import { KeyedList, type Part } from '../dom/keyed-list.js';
import { runAddress } from '../parts/call-part.js';
import type { Frame } from './frame.js';

/** Time between two looks. Lists of the server lag by about a second. */
const LOOK_EVERY_MS = 3_000;

/** `/`: the runs and sessions, newest first, kept up to date. Throws ApiError. */
export async function showList(api: GatewayApi, frame: Frame): Promise<void> {
  frame.setTitle('Runs');
  const runs = new Listing<RunItem>('Runs', { keyOf: ({ runId }) => runId, create: () => new RunRow() });
  const sessions = new Listing<SessionItem>('Sessions', { keyOf: ({ key }) => key, create: () => new SessionRow() });
  const more = button('Show older runs', () => void older.next(), { hidden: true });
  const older = new OlderRuns(api, { button: more, onError: (error) => frame.showError(error) });
  const lists = element('div', { class: 'lists' }, element('div', {}, runs.element, more), sessions.element);
  frame.main.replaceChildren(element('h1', { class: 'announced' }, 'Runs and sessions'), startForms(api, frame), lists);
  for (;;) {
    if (document.visibilityState === 'visible') {
      const [newest, known] = await Promise.all([
        api.get<RunPage>('/v1/runs').catch(ifPassing),
        api.get<{ sessions: SessionItem[] }>('/v1/sessions').catch(ifPassing),
      ]);
      if (newest) runs.update(older.behind(newest));
      if (known) sessions.update(known.sessions);
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

interface RunPage {
  readonly runs: readonly RunItem[];
  readonly cursor?: string;
}

/** The runs after the first page, which a reader asked for. They do not update themselves. */
class OlderRuns {
  readonly #api: GatewayApi;
  readonly #button: HTMLButtonElement;
  readonly #onError: (error: unknown) => void;
  #runs: readonly RunItem[] = [];
  #cursor: string | undefined;

  constructor(api: GatewayApi, options: { readonly button: HTMLButtonElement; readonly onError: (error: unknown) => void }) {
    this.#api = api;
    this.#button = options.button;
    this.#onError = options.onError;
  }

  /** The first page, and what was read behind it. */
  behind(first: RunPage): readonly RunItem[] {
    if (this.#runs.length === 0) this.#cursor = first.cursor;
    setAttributes(this.#button, { hidden: this.#cursor === undefined });
    const known = new Set(first.runs.map(({ runId }) => runId));
    return [...first.runs, ...this.#runs.filter(({ runId }) => !known.has(runId))];
  }

  /** Reads the next page. The next look shows it. */
  async next(): Promise<void> {
    if (this.#cursor === undefined) return;
    try {
      const page = await this.#api.get<RunPage>(`/v1/runs?cursor=${encodeURIComponent(this.#cursor)}`);
      this.#runs = [...this.#runs, ...page.runs];
      this.#cursor = page.cursor;
    } catch (error) {
      this.#onError(error);
    }
  }
}

/** A list with its heading, and a line when it is empty. */
class Listing<Item> {
  readonly #rows = element('ul', { class: 'rows' });
  readonly #empty = element('p', { class: 'note' }, 'None yet.');
  readonly #list: KeyedList<Item>;
  readonly element: HTMLElement;

  constructor(title: string, options: ConstructorParameters<typeof KeyedList<Item>>[1]) {
    const id = `list-${title.toLowerCase()}`;
    this.#list = new KeyedList<Item>(this.#rows, options);
    this.element = element('section', { 'aria-labelledby': id }, element('h2', { id }, title), this.#empty, this.#rows);
  }

  update(items: readonly Item[]): void {
    this.#list.update(items);
    setAttributes(this.#empty, { hidden: items.length > 0 });
  }
}

/** A run in the list. */
class RunRow implements Part<RunItem> {
  readonly #link = element('a', { class: 'task' });
  readonly #status = element('span', { class: 'badge' });
  readonly #facts = element('span', { class: 'row-facts' });
  readonly element = element('li', {}, this.#link, this.#status, this.#facts);

  update({ runId, task, status, agent, model, turns, costUsd, startedAt }: RunItem): void {
    setAttributes(this.#link, { href: runAddress(runId) });
    setText(this.#link, task || runId);
    setText(this.#status, statusText(status));
    setAttributes(this.#status, { 'data-status': status });
    const cost = costUsd === undefined ? undefined : costText(costUsd);
    setText(this.#facts, joined([agent, model, turns === undefined ? undefined : `turn ${turns}`, cost, agoText(startedAt, Date.now())]));
  }
}

/** A session in the list. */
class SessionRow implements Part<SessionItem> {
  readonly #link = element('a', { class: 'task' });
  readonly #facts = element('span', { class: 'row-facts' });
  readonly element = element('li', {}, this.#link, this.#facts);

  update({ key, agent, status, startedAt }: SessionItem): void {
    setAttributes(this.#link, { href: `/sessions/${encodeURIComponent(key)}` });
    setText(this.#link, key);
    setText(this.#facts, joined([agent, status === 'open' ? undefined : status, agoText(startedAt, Date.now())]));
  }
}

/** Forms that start a run, and open a session. */
function startForms(api: GatewayApi, frame: Frame): HTMLElement {
  const task = element('textarea', { rows: '2', required: true });
  const agent = element('input', { type: 'text', autocomplete: 'off', placeholder: 'default' });
  const start = element('button', { type: 'submit', class: 'primary' }, 'Start');
  const run = element(
    'form',
    { class: 'start' },
    element('h2', {}, 'Start a run'),
    ...labelled('Task', task, 'task'),
    ...labelled('Agent', agent, 'agent'),
    start,
  );
  // a start that is sent again is the same run
  let key = newMessageId();
  run.addEventListener('submit', (event) => {
    event.preventDefault();
    const named = agent.value.trim() === '' ? {} : { agent: agent.value.trim() };
    start.disabled = true;
    void (async () => {
      try {
        const { runId } = await api.post<{ runId: string }>('/v1/runs', { task: task.value, ...named }, { 'idempotency-key': key });
        location.assign(runAddress(runId));
      } catch (error) {
        // another input needs another key
        if (!isPassing(error)) key = newMessageId();
        frame.showError(error);
      } finally {
        start.disabled = false;
      }
    })();
  });
  const name = element('input', {
    type: 'text',
    autocomplete: 'off',
    required: true,
    pattern: '[A-Za-z0-9._:\\-]+',
    title: 'Letters, digits and . _ : -',
  });
  const open = element(
    'form',
    { class: 'start' },
    element('h2', {}, 'Open a session'),
    ...labelled('Key', name, 'session-key'),
    element('button', { type: 'submit' }, 'Open'),
  );
  open.addEventListener('submit', (event) => {
    event.preventDefault();
    location.assign(`/sessions/${encodeURIComponent(name.value.trim())}`);
  });
  return element('div', { class: 'starts' }, run, open);
}

function joined(facts: readonly (string | undefined)[]): string {
  return facts.filter((fact) => fact !== undefined).join(' · ');
}

/** The next look may succeed. */
function ifPassing(error: unknown): undefined {
  if (!isPassing(error)) throw error;
}
