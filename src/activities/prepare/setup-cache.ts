import type { RunSetup, TranscriptRef } from '../../contracts/activities.js';
import { type PatienceOptions, patientQuery } from '../transcript/query-with-retry.js';

/** How many setups a worker remembers; each is at most as large as a query's answer. */
const SETUPS_MAX = 200;

/** Gives a run's setup by its hash: from this worker's memory, else from query `setup` (never re-read from files). */
export class SetupCache {
  readonly #setups = new Map<string, RunSetup>();
  readonly #query: (ref: Pick<TranscriptRef, 'runId' | 'executionId'>) => Promise<RunSetup>;

  constructor(query: (ref: Pick<TranscriptRef, 'runId' | 'executionId'>) => Promise<RunSetup>) {
    this.#query = query;
  }

  /** Remembers a setup that this worker prepared. */
  keep(hash: string, setup: RunSetup): void {
    this.#setups.set(hash, setup);
    if (this.#setups.size <= SETUPS_MAX) return;
    const [oldest] = this.#setups.keys();
    if (oldest !== undefined) this.#setups.delete(oldest);
  }

  /** Throws as `patientQuery` does. */
  async get(hash: string, ref: Pick<TranscriptRef, 'runId' | 'executionId'>, patience: PatienceOptions): Promise<RunSetup> {
    const known = this.#setups.get(hash);
    if (known) return known;
    const setup = await patientQuery(ref.runId, () => this.#query(ref), patience);
    this.keep(hash, setup);
    return setup;
  }
}
