import { ApplicationFailure } from '@temporalio/common';
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineUpdate,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { LEDGER_LIMITS, PROVIDER_LIMITS } from '../../contracts/constants/limits.js';
import type { PlacesAnswer, PlacesRequest, ProviderLedgerState, ProviderStatus } from '../../contracts/schemas/ledger.js';
import { escapeMarkdown } from '../../contracts/text/sanitize-text.js';
import { ProviderPlaces } from './provider-places.js';
import { areAmounts, isAmount, isId } from './read-message.js';

const take = defineUpdate<PlacesAnswer, [PlacesRequest]>('take');
const status = defineQuery<ProviderStatus>('status');

/**
 * Keeps the places of one provider on one task queue: calls at once, and calls that begin within a minute. The first worker that asks starts
 * it; it ends when no call runs and none began within a minute. `state` is what continue-as-new carried over.
 */
export async function providerLedger(provider: string, state?: ProviderLedgerState): Promise<void> {
  const ledger = new Ledger(state ? new ProviderPlaces(state) : ProviderPlaces.empty(provider));
  ledger.serve();
  await CancellationScope.nonCancellable(() => ledger.run());
  if (!ledger.isOver) await continueAsNew<typeof providerLedger>(provider, ledger.places.carry());
}

class Ledger {
  readonly places: ProviderPlaces;
  isOver = false;
  #updates = 0;
  /** Requests that wait for a place, by worker: a newer one ends an older one. */
  readonly #held = new Map<string, number>();

  constructor(places: ProviderPlaces) {
    this.places = places;
  }

  serve(): void {
    setHandler(take, (request) => this.#take(request), {
      description: 'Sent by workers: their calls that run, and that wait.',
      validator: (request) => {
        if (!isRequest(request)) throw ApplicationFailure.nonRetryable('the counters of a worker are needed', 'Input.Invalid');
      },
    });
    setHandler(status, () => this.places.status(Date.now()), { description: 'Calls that run and wait, and those of the last minute.' });
    const details = { toJSON: () => detailsOf(this.places.status(Date.now())) };
    // the SDK takes a text, which would have to be written anew at each step
    setCurrentDetails(details as unknown as string);
  }

  /** Works until the ledger is over, or its history is long. It is over only after a time without work. */
  async run(): Promise<void> {
    while (!this.isOver && !this.#isLong) {
      this.places.advance(Date.now());
      const { idleMs = LEDGER_LIMITS.idleMs } = this.places.bounds;
      const nextMs = this.places.nextMs();
      const wakeMs = nextMs ?? Date.now() + idleMs;
      const isEarlier = (): boolean => this.#isLong || (this.places.nextMs() ?? Infinity) < wakeMs;
      const woken = await condition(isEarlier, Math.max(1, wakeMs - Date.now()));
      this.isOver = !woken && nextMs === undefined && this.places.nextMs() === undefined;
    }
    await condition(allHandlersFinished);
    // a request may have come meanwhile: the next history continues with it
    this.isOver = this.isOver && this.places.nextMs() === undefined;
  }

  get #isLong(): boolean {
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    const { updatesMax = LEDGER_LIMITS.updatesMax } = this.places.bounds;
    return continueAsNewSuggested || historyLength > LEDGER_LIMITS.historyEventsMax || this.#updates >= updatesMax;
  }

  /** Takes the counters of a worker, and holds the request until the worker gets a place. */
  async #take(request: PlacesRequest): Promise<PlacesAnswer> {
    const { worker, granted } = request;
    this.#updates += 1;
    const number = this.#updates;
    this.places.take(request, Date.now());
    this.places.advance(Date.now());
    const older = this.#held.has(worker);
    this.#held.delete(worker);
    const mustWait = (): boolean => this.places.isWaiting(worker) && this.places.grantedTo(worker) <= granted && !this.#isLong;
    if (!mustWait()) return this.#answer(worker);
    if (this.#held.size >= PROVIDER_LIMITS.heldRequestsMax && !older)
      return { ...this.#answer(worker), askAgainMs: PROVIDER_LIMITS.askAgainMs };
    this.#held.set(worker, number);
    await condition(() => this.#held.get(worker) !== number || !mustWait(), PROVIDER_LIMITS.holdMs);
    if (this.#held.get(worker) === number) this.#held.delete(worker);
    return this.#answer(worker);
  }

  #answer(worker: string): PlacesAnswer {
    return { granted: this.places.grantedTo(worker) };
  }
}

function isRequest(given: unknown): given is PlacesRequest {
  if (typeof given !== 'object' || given === null) return false;
  const { worker, limits, bounds, wanted, granted, finished } = given as Partial<PlacesRequest>;
  const counters = [wanted, granted, finished];
  if (!isId(worker) || !counters.every((count) => count === 0 || isAmount(count))) return false;
  return areAmounts(limits) && (bounds === undefined || areAmounts(bounds));
}

/** The ledger as Markdown for operators. */
function detailsOf({ provider, limits, callsAtOnce, callsInMinute, waiting, workers }: ProviderStatus): string {
  const rows = [
    ['Calls at once', withLimit(callsAtOnce, limits.callsAtOnce)],
    ['Calls of the last minute', withLimit(callsInMinute, limits.callsPerMinute)],
    ['Waiting', String(waiting)],
    ['Workers', String(workers)],
  ];
  return `**Provider ${escapeMarkdown(provider)}**\n\n| | |\n|---|---|\n${rows.map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`;
}

function withLimit(calls: number, limit: number | undefined): string {
  return limit === undefined ? String(calls) : `${calls} of ${limit}`;
}
