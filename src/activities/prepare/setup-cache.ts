import type { RunSetup, TranscriptRef } from '../../contracts/activities.js';
import { type PatienceOptions, patientQuery } from '../transcript/query-with-retry.js';

/** The maximum of cached setups; each is at most as large as a query's answer. */
const SETUPS_MAX = 200;

/** The setups of runs by their hash: from this worker's memory, else from query `setup`. They are never read from files again. */
export class SetupCache {
  readonly #setups = new Map<string, RunSetup>();
  readonly #query: (ref: Pick<TranscriptRef, 'runId' | 'executionId'>) => Promise<RunSetup>;

  constructor(query: (ref: Pick<TranscriptRef, 'runId' | 'executionId'>) => Promise<RunSetup>) {
    this.#query = query;
  }

  /** Adds a setup, and drops the oldest one beyond the maximum. */
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
