import { followEvents } from '../api/follow-events.js';
import { ApiError, type GatewayApi, sessionPath } from '../api/gateway-api.js';
import { statusText } from '../content/format.js';
import { button, element, setAttributes, setText } from '../dom/element.js';
import { followEnd } from '../dom/follow-end.js';
import { KeyedList, type Part } from '../dom/keyed-list.js';
import { runAddress } from '../parts/call-part.js';
import { Composer } from '../parts/composer.js';
import { Controls } from '../parts/controls.js';
import { Conversation } from '../parts/conversation.js';
import { Decisions } from '../parts/decisions.js';
import { QueuePart } from '../parts/queue-part.js';
import { Announcer } from '../state/announcer.js';
import { itemsOf } from '../state/items-of.js';
import type { RunModel } from '../state/run-model.js';
import { SessionModel } from '../state/session-model.js';
import { decisionsOf } from './decisions-of.js';
import type { Frame } from './frame.js';
import { onNextFrame } from './next-frame.js';

/** `/sessions/{key}`: a conversation, live. Throws ApiError for a token that is not known. */
export async function showSession(api: GatewayApi, frame: Frame, key: string): Promise<void> {
  await new SessionPage(api, frame, key).follow();
}

class SessionPage {
  readonly #api: GatewayApi;
  readonly #frame: Frame;
  readonly #key: string;
  readonly #model: SessionModel;
  readonly #status = element('span', { class: 'badge' });
  readonly #earlier: HTMLButtonElement;
  readonly #empty = element('p', { class: 'note', hidden: true }, 'No messages yet. The first one starts the session.');
  readonly #runs = element('div', { class: 'session-runs' });
  readonly #list: KeyedList<RunModel>;
  readonly #controls: Controls;
  readonly #composer: Composer;
  readonly #queue: QueuePart;
  readonly #followEnd = followEnd();
  #started: () => void = () => undefined;

  constructor(api: GatewayApi, frame: Frame, key: string) {
    this.#api = api;
    this.#frame = frame;
    this.#key = key;
    const onError = (error: unknown): void => frame.showError(error);
    this.#model = new SessionModel(api, key, { onChange: onNextFrame(() => this.#show()), onError });
    this.#earlier = button('Show earlier answers', () => void this.#model.showEarlier(), { hidden: true });
    const act = async (verb: string): Promise<void> => {
      const run = this.#model.active;
      if (!run) return;
      await api.post(`/v1/runs/${encodeURIComponent(run.runId)}/${verb}`);
      await run.refreshState();
    };
    this.#controls = new Controls({ pause: () => act('pause'), resume: () => act('resume'), cancel: () => act('cancel'), onError });
    this.#queue = new QueuePart({
      withdraw: async (id) => {
        await api.delete(`${sessionPath(key)}/messages/${encodeURIComponent(id)}`);
        await this.#model.refresh();
      },
      onError,
    });
    this.#composer = new Composer({
      label: 'Message',
      action: 'Send',
      modes: [
        ['followup', 'after the answer'],
        ['steer', 'into the answer'],
        ['collect', 'with further messages'],
        ['interrupt', 'now: cancel the answer'],
      ],
      send: async (message) => await this.#send(message),
      onError,
    });
    const onDecided = (): void => this.#composer.focus();
    this.#list = new KeyedList<RunModel>(this.#runs, {
      keyOf: ({ runId }) => runId,
      create: (run) => new RunPart(run, { api, frame, onDecided, onError }),
    });
    this.#layOut();
  }

  /** Follows the session until the tab closes. Throws ApiError. */
  async follow(): Promise<void> {
    const stop = new AbortController();
    const options = {
      signal: stop.signal,
      onConnection: (connection: Parameters<Frame['showConnection']>[0]): void => {
        this.#frame.showConnection(connection);
        // what ended before the stream began is in the state
        if (connection === 'open') void this.#model.refresh();
      },
    };
    for (;;) {
      try {
        for await (const events of followEvents(this.#api, `${sessionPath(this.#key)}/events?from=active`, options))
          this.#model.take(events);
        return;
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'NO_SESSION') throw error;
        await this.#model.refresh();
        // its first message starts it
        await new Promise<void>((resolve) => {
          this.#started = resolve;
        });
      }
    }
  }

  async #send({ id, text, mode }: { readonly id: string; readonly text: string; readonly mode: string }): Promise<void> {
    await this.#api.post(`${sessionPath(this.#key)}/messages`, { id, text, queue: mode });
    this.#queue.note(id, text);
    this.#started();
    await this.#model.refresh();
  }

  #layOut(): void {
    this.#frame.setTitle(this.#key);
    this.#frame.main.replaceChildren(
      element('div', { class: 'head' }, element('h1', {}, this.#key), this.#status, this.#controls.element),
      element(
        'div',
        { class: 'talk' },
        this.#earlier,
        this.#empty,
        element('section', { 'aria-label': 'Conversation' }, this.#runs),
        this.#queue.element,
        this.#composer.element,
      ),
    );
  }

  #show(): void {
    const { state, runs, active, earlier } = this.#model;
    this.#followEnd(() => {
      this.#list.update(runs);
      setAttributes(this.#empty, { hidden: (state?.runs.length ?? 0) > 0 });
      setAttributes(this.#earlier, { hidden: earlier === 0 });
      this.#queue.update(state?.queued ?? []);
    });
    const status = active?.state?.progress.status ?? (state?.active === undefined ? 'idle' : 'running');
    setText(this.#status, status);
    setAttributes(this.#status, { 'data-status': status });
    this.#controls.update({ isOpen: active?.isOpen === true, isPaused: status === 'paused' });
  }
}

interface RunPartOptions {
  readonly api: GatewayApi;
  readonly frame: Frame;
  readonly onDecided: () => void;
  readonly onError: (error: unknown) => void;
}

/** One run of a conversation: its message, its answer, and what waits in it. */
class RunPart implements Part<RunModel> {
  readonly #frame: Frame;
  readonly #conversation = new Conversation();
  readonly #announcer = new Announcer();
  readonly #decisions: Decisions;
  readonly #end = element('p', { class: 'ending', hidden: true });
  readonly element: HTMLElement;

  constructor(run: RunModel, { api, frame, ...handlers }: RunPartOptions) {
    this.#frame = frame;
    this.#decisions = new Decisions(decisionsOf(api, run, handlers));
    const link = element('a', { href: runAddress(run.runId), class: 'run-link' }, 'Details of this answer');
    this.element = element('div', { class: 'session-run' }, this.#conversation.element, this.#end, this.#decisions.element, link);
  }

  update(run: RunModel): void {
    const items = itemsOf(run.view);
    this.#conversation.update(items);
    this.#decisions.update({ ...run.pending, progress: run.state?.progress });
    const result = run.view.result ?? run.state?.result;
    setAttributes(this.#end, { hidden: result === undefined || result.reason === 'completed' });
    setText(
      this.#end,
      result?.error
        ? `The answer failed: ${result.error.type}: ${result.error.message}`
        : `The answer ended: ${statusText(result?.reason ?? '')}.`,
    );
    this.#frame.announce(this.#announcer.news(run, items));
  }
}
