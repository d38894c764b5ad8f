import type { SessionEvent, SessionState } from '../../../../contracts/schemas/session.js';
import { ApiError, type GatewayApi, isPassing, sessionPath } from '../api/gateway-api.js';
import type { ServerEvent } from '../api/read-events.js';
import { Coalesced } from './coalesced.js';
import { RunModel, type RunModelOptions } from './run-model.js';

/** Runs of a conversation that are shown at first. Each costs a read of its transcript. */
const SHOWN_RUNS = 10;

/** A conversation: its state, and the runs that are shown, oldest first. */
export class SessionModel {
  readonly #api: GatewayApi;
  readonly #path: string;
  readonly #options: RunModelOptions;
  readonly #runs = new Map<string, RunModel>();
  readonly #reading = new Coalesced(() => this.#kept());
  #state: SessionState | undefined;
  #shown = SHOWN_RUNS;

  constructor(api: GatewayApi, key: string, options: RunModelOptions) {
    this.#api = api;
    this.#path = sessionPath(key);
    this.#options = options;
  }

  /** Undefined until the first answer, and for a session that no message started. */
  get state(): SessionState | undefined {
    return this.#state;
  }

  /** The runs that are shown, oldest first. */
  get runs(): readonly RunModel[] {
    return (this.#state?.runs ?? []).flatMap(({ runId }) => this.#runs.get(runId) ?? []);
  }

  /** The run that works now. */
  get active(): RunModel | undefined {
    const id = this.#state?.active;
    return id === undefined ? undefined : this.#runs.get(id);
  }

  /** Number of earlier runs that can be shown too. */
  get earlier(): number {
    return Math.max(0, (this.#state?.runs.length ?? 0) - this.#shown);
  }

  /** Shows more of the earlier runs. */
  async showEarlier(): Promise<void> {
    this.#shown += SHOWN_RUNS;
    await this.refresh();
  }

  /** Reads the state, and the transcripts of the runs that are not known yet. */
  async refresh(): Promise<void> {
    await this.#reading.request();
  }

  /** Takes events of the session and of its runs. */
  take(events: readonly ServerEvent[]): void {
    for (const [runId, ofRun] of runEventsIn(events)) this.#runOf(runId).take(ofRun);
    if (events.some(isOfSession)) void this.refresh();
  }

  #runOf(runId: string): RunModel {
    const run = this.#runs.get(runId) ?? new RunModel(this.#api, runId, this.#options);
    this.#runs.set(runId, run);
    return run;
  }

  async #kept(): Promise<void> {
    try {
      this.#state = await this.#api.get<SessionState>(this.#path);
      const shown = this.#state.runs.slice(-this.#shown);
      const unknown = shown.filter(({ runId }) => !this.#runs.has(runId));
      await Promise.all(unknown.map(({ runId }) => this.#runOf(runId).refresh()));
      this.#options.onChange();
    } catch (error) {
      // its first message starts it
      if (error instanceof ApiError && error.code === 'NO_SESSION') this.#options.onChange();
      else if (!isPassing(error)) this.#options.onError(error);
    }
  }
}

/** The events of each run, in their order. The session's own events name a run too, and are not among them. */
function runEventsIn(events: readonly ServerEvent[]): ReadonlyMap<string, readonly ServerEvent[]> {
  const found = new Map<string, ServerEvent[]>();
  for (const event of events) {
    if (isOfSession(event)) continue;
    // the gateway adds the id of the run to the events of runs
    const { runId } = event.data as { readonly runId: string };
    found.set(runId, [...(found.get(runId) ?? []), event]);
  }
  return found;
}

/** True for an event of the session, also where events of it are missing: the state has what they led to. */
function isOfSession({ type, data }: ServerEvent): boolean {
  // the gateway writes this type with this data
  return OF_SESSION.has(type) || (type === 'gap' && (data as { readonly runId?: string }).runId === undefined);
}

const OF_SESSION: ReadonlySet<string> = new Set<SessionEvent['type']>([
  'message.accepted',
  'message.steered',
  'message.returned',
  'message.dropped',
  'session.run.started',
  'session.run.ended',
  'session.continued',
]);
