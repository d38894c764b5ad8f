import type { PendingQuestion } from '../../../../contracts/schemas/question.js';
import { type GatewayApi, isPassing, runPath } from '../api/gateway-api.js';
import type { ServerEvent } from '../api/read-events.js';
import type { RunState, ShownApproval } from '../api/run-item.js';
import { TranscriptReader } from '../api/transcript-reader.js';
import { Coalesced } from './coalesced.js';
import { newRunView, type RunView } from './run-view.js';
import { takeEvent } from './take-event.js';
import { takeMessages } from './take-messages.js';

/** What waits for a decision of a person. */
export interface PendingDecisions {
  readonly approvals: readonly ShownApproval[];
  readonly questions: readonly PendingQuestion[];
}

const NOTHING: PendingDecisions = { approvals: [], questions: [] };

/** How a model reports to its page. */
export interface RunModelOptions {
  /** Called after each change. */
  readonly onChange: () => void;
  /** Called with an error that stays, such as an unknown run. */
  readonly onError: (error: unknown) => void;
}

/** One run: what its events, its transcript and its state say, kept together. */
export class RunModel {
  readonly runId: string;
  readonly #api: GatewayApi;
  readonly #options: RunModelOptions;
  readonly #transcript: TranscriptReader;
  readonly #messages = new Coalesced(() => this.#kept(() => this.#readMessages()));
  readonly #progress = new Coalesced(() => this.#kept(() => this.#readState()));
  #view: RunView;
  #state: RunState | undefined;
  #pending = NOTHING;
  #isLoaded = false;

  constructor(api: GatewayApi, runId: string, options: RunModelOptions) {
    this.#api = api;
    this.runId = runId;
    this.#options = options;
    this.#transcript = new TranscriptReader(api, runId);
    this.#view = newRunView(runId);
  }

  get view(): RunView {
    return this.#view;
  }

  /** Its progress, limits and result. Undefined until the first answer. */
  get state(): RunState | undefined {
    return this.#state;
  }

  get pending(): PendingDecisions {
    return this.#pending;
  }

  /** True once the transcript was read: what comes later is new. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** True until the run has a result. */
  get isOpen(): boolean {
    return this.#view.result === undefined && this.#state?.result === undefined;
  }

  /** Takes events of the run, and reads what they announce. */
  take(events: readonly ServerEvent[]): void {
    for (const event of events) this.#view = takeEvent(this.#view, event);
    this.#options.onChange();
    if (events.some(({ type }) => CHANGES_TRANSCRIPT.has(type))) void this.#messages.request();
    if (events.some(({ type }) => !type.endsWith('.delta'))) void this.#progress.request();
  }

  /** Reads transcript and state. */
  async refresh(): Promise<void> {
    await Promise.all([this.#messages.request(), this.#progress.request()]);
  }

  /** Reads the state alone. */
  async refreshState(): Promise<void> {
    await this.#progress.request();
  }

  async #readMessages(): Promise<void> {
    const { messages, isWhole } = await this.#transcript.read();
    this.#view = takeMessages(this.#view, messages, { isWhole });
    this.#isLoaded = true;
    this.#options.onChange();
  }

  async #readState(): Promise<void> {
    const state = await this.#api.get<RunState>(runPath(this.runId));
    const { pendingApprovals, pendingQuestions = 0 } = state.progress;
    const isOpen = state.result === undefined;
    const path = runPath(this.runId);
    const [approvals, questions] = await Promise.all([
      isOpen && pendingApprovals > 0 ? this.#api.get<ShownApproval[]>(`${path}/approvals`) : [],
      isOpen && pendingQuestions > 0 ? this.#api.get<PendingQuestion[]>(`${path}/questions`) : [],
    ]);
    const hasEnded = this.isOpen && !isOpen;
    this.#state = state;
    this.#pending = { approvals, questions };
    this.#options.onChange();
    // the events may come later, or no more
    if (hasEnded) void this.#messages.request();
  }

  /** A later event, or the next look, brings what could not be read now. */
  async #kept(read: () => Promise<void>): Promise<void> {
    try {
      await read();
    } catch (error) {
      if (!isPassing(error)) this.#options.onError(error);
    }
  }
}

/** The events after which the transcript has another message. */
const CHANGES_TRANSCRIPT: ReadonlySet<string> = new Set([
  'model.completed',
  'model.interrupted',
  'tool.result',
  'tool.blocked',
  'tool.remembered',
  'turn.ended',
  'steer.delivered',
  'answer.corrected',
  'subagent.delivered',
  'compacted',
  'result',
]);
