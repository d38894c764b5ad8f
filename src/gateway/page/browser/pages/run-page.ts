import { followEvents } from '../api/follow-events.js';
import { type GatewayApi, runPath } from '../api/gateway-api.js';
import { statusText } from '../content/format.js';
import { planOf } from '../content/plan-of.js';
import { element, setAttributes, setText } from '../dom/element.js';
import { followEnd } from '../dom/follow-end.js';
import { Composer } from '../parts/composer.js';
import { Controls } from '../parts/controls.js';
import { Conversation } from '../parts/conversation.js';
import { Decisions } from '../parts/decisions.js';
import { Facts } from '../parts/facts.js';
import { PlanPart } from '../parts/plan-part.js';
import { SubagentsPart } from '../parts/subagents-part.js';
import { Announcer } from '../state/announcer.js';
import { itemsOf } from '../state/items-of.js';
import { RunModel } from '../state/run-model.js';
import { decisionsOf } from './decisions-of.js';
import type { Frame } from './frame.js';
import { onNextFrame } from './next-frame.js';

/** Time between two looks at an open run without events: what it waits for, and the time that it has worked. */
const LOOK_EVERY_MS = 5_000;

/** `/runs/{id}`: one run, live. Throws ApiError for a token that is not known. */
export async function showRun(api: GatewayApi, frame: Frame, runId: string): Promise<void> {
  await new RunPage(api, frame, runId).follow();
}

class RunPage {
  readonly #api: GatewayApi;
  readonly #frame: Frame;
  readonly #model: RunModel;
  readonly #heading = element('h1');
  readonly #status = element('span', { class: 'badge' });
  readonly #ending = element('p', { class: 'ending', hidden: true });
  readonly #conversation = new Conversation();
  readonly #facts = new Facts();
  readonly #plan = new PlanPart();
  readonly #announcer = new Announcer();
  readonly #subagents: SubagentsPart;
  readonly #controls: Controls;
  readonly #decisions: Decisions;
  readonly #composer: Composer;
  readonly #followEnd = followEnd();

  constructor(api: GatewayApi, frame: Frame, runId: string) {
    this.#api = api;
    this.#frame = frame;
    const path = runPath(runId);
    const onError = (error: unknown): void => frame.showError(error);
    this.#model = new RunModel(api, runId, { onChange: onNextFrame(() => this.#show()), onError });
    const act = async (verb: string): Promise<void> => {
      await api.post(`${path}/${verb}`);
      await this.#model.refreshState();
    };
    this.#controls = new Controls({ pause: () => act('pause'), resume: () => act('resume'), cancel: () => act('cancel'), onError });
    this.#subagents = new SubagentsPart(api);
    this.#composer = new Composer({
      label: 'Message to the agent',
      action: 'Send',
      modes: [
        ['boundary', 'before the next answer'],
        ['preempt', 'before the next call'],
        ['interrupt', 'now: interrupt the answer'],
      ],
      send: async (message) => await api.post(`${path}/messages`, message),
      onError,
    });
    this.#decisions = new Decisions(decisionsOf(api, this.#model, { onDecided: () => this.#composer.focus(), onError }));
    this.#layOut(runId);
  }

  /** Follows the run to its result. Throws ApiError. */
  async follow(): Promise<void> {
    void this.#model.refresh();
    const looking = setInterval(() => this.#look(), LOOK_EVERY_MS);
    const stop = new AbortController();
    const onConnection = this.#frame.showConnection.bind(this.#frame);
    try {
      for await (const events of followEvents(this.#api, `${runPath(this.#model.runId)}/events`, { signal: stop.signal, onConnection })) {
        this.#model.take(events);
        if (this.#model.view.result) break;
      }
    } finally {
      clearInterval(looking);
    }
  }

  #layOut(runId: string): void {
    setText(this.#heading, runId);
    this.#frame.setTitle(runId);
    this.#frame.main.replaceChildren(
      element('div', { class: 'head' }, this.#heading, this.#status, this.#controls.element),
      element(
        'div',
        { class: 'columns' },
        element('aside', { 'aria-label': 'About this run' }, this.#facts.element, this.#plan.element, this.#subagents.element),
        element(
          'div',
          { class: 'talk' },
          element('section', { 'aria-label': 'Conversation' }, this.#conversation.element),
          this.#ending,
          this.#decisions.element,
          this.#composer.element,
        ),
      ),
    );
  }

  #look(): void {
    if (this.#model.isOpen && document.visibilityState === 'visible') void this.#model.refreshState();
  }

  #show(): void {
    const { view, state, pending, isOpen } = this.#model;
    const items = itemsOf(view);
    this.#followEnd(() => {
      this.#conversation.update(items);
      this.#plan.update(planOf(view.messages));
      this.#decisions.update({ ...pending, progress: state?.progress });
      setAttributes(this.#composer.element, { hidden: !isOpen });
      this.#showResult();
    });
    this.#frame.announce(this.#announcer.news(this.#model, items));
    if (!state) return;
    const { run, progress } = state;
    setText(this.#heading, run.task || run.runId);
    this.#frame.setTitle(run.task || run.runId);
    setText(this.#status, statusText(progress.status));
    setAttributes(this.#status, { 'data-status': progress.status });
    this.#facts.update(progress);
    this.#subagents.update(progress.subagents ?? []);
    this.#controls.update({ isOpen, isPaused: progress.status === 'paused' });
    const waiting = Math.max(progress.inbox, view.queued.length);
    this.#composer.showHint(waiting === 0 ? '' : `${waiting} ${waiting === 1 ? 'message waits' : 'messages wait'} for delivery`);
  }

  /** The end of the run, if it is not an answer: a limit, a cancel, or an error. */
  #showResult(): void {
    const result = this.#model.view.result ?? this.#model.state?.result;
    const isPlain = result === undefined || result.reason === 'completed';
    setAttributes(this.#ending, { hidden: isPlain, class: result?.error ? 'ending problem' : 'ending' });
    if (isPlain) return;
    const { reason, error } = result;
    setText(this.#ending, error ? `The run failed: ${error.type}: ${error.message}` : `The run ended: ${statusText(reason)}.`);
  }
}
