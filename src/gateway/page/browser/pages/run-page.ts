import { followEvents } from '../api/follow-events.js';
import { type GatewayApi, runPath } from '../api/gateway-api.js';
import { statusText } from '../content/format.js';
import { element, setAttributes, setText } from '../dom/element.js';
import { Conversation } from '../parts/conversation.js';
import { itemsOf } from '../state/items-of.js';
import { RunModel } from '../state/run-model.js';
import type { Frame } from './frame.js';
import { onNextFrame } from './next-frame.js';

/** `/runs/{id}`: one run, live. */
export async function showRun(api: GatewayApi, frame: Frame, runId: string): Promise<void> {
  const page = new RunPage(api, frame, runId);
  await page.follow();
}

class RunPage {
  readonly #api: GatewayApi;
  readonly #frame: Frame;
  readonly #model: RunModel;
  readonly #heading = element('h1');
  readonly #status = element('span', { class: 'badge' });
  readonly #conversation = new Conversation();
  readonly #draw = onNextFrame(() => this.#show());

  constructor(api: GatewayApi, frame: Frame, runId: string) {
    this.#api = api;
    this.#frame = frame;
    this.#model = new RunModel(api, runId, { onChange: this.#draw, onError: (error) => frame.showError(error) });
    setText(this.#heading, runId);
    frame.setTitle(runId);
    frame.main.replaceChildren(
      element('div', { class: 'run-head' }, this.#heading, this.#status),
      element('section', { 'aria-label': 'Conversation' }, this.#conversation.element),
    );
  }

  /** Follows the run to its result. Throws ApiError. */
  async follow(): Promise<void> {
    void this.#model.refresh();
    const stop = new AbortController();
    const onConnection = this.#frame.showConnection.bind(this.#frame);
    for await (const events of followEvents(this.#api, `${runPath(this.#model.runId)}/events`, { signal: stop.signal, onConnection })) {
      this.#model.take(events);
      if (!this.#model.isOpen) break;
    }
  }

  #show(): void {
    const { view, state } = this.#model;
    this.#conversation.update(itemsOf(view));
    if (!state) return;
    const { task } = state.run;
    if (task) setText(this.#heading, task);
    setText(this.#status, statusText(state.progress.status));
    setAttributes(this.#status, { 'data-status': state.progress.status });
  }
}
