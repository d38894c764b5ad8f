import { setTimeout as pause } from 'node:timers/promises';
import type { Client, Connection } from '@temporalio/client';
import { HOSTING_LIMITS } from '../../contracts/constants/limits.js';
import type { handBack } from '../recovery/hand-back.js';
import type { OpenRun } from '../recovery/started-activities.js';
import type { SharedHosting, WorkerServer } from './messages.js';
import { restartPauseMs } from './restart-pause.js';

/** The death of a worker process. */
export interface WorkerDeath {
  readonly worker: SharedHosting;
  /** The runs that may have a call of it. */
  readonly runs: readonly OpenRun[];
  /** In words, such as `killed by SIGKILL`. */
  readonly cause: string;
}

/** For all requests of one report: a thousand runs, over a slow network. */
const REPORT_MS_MAX = 30_000;

/** Reports the death of worker processes to their Temporal server, so that their runs continue at once. Uses only its public API. */
export class DeathReporter {
  readonly #say: (line: string) => void;
  #connecting: Promise<{ readonly connection: Connection; readonly client: Client }> | undefined;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  /** Loads and connects in advance, because that takes longer than the report. Never rejects: `report` connects again. */
  async prepare(server: WorkerServer): Promise<void> {
    await Promise.all([this.#connect(server), loadHandBack()]).catch(() => undefined);
  }

  /**
   * Hands the calls of a dead worker back to their runs. Repeats the report for 5 minutes if the server does not answer, then leaves the
   * calls to their heartbeat timeout. Stops when `signal` aborts. Never rejects.
   */
  async report(death: WorkerDeath, signal: AbortSignal): Promise<void> {
    const giveUpAt = Date.now() + HOSTING_LIMITS.reportMs;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      try {
        return await this.#reportOnce(death);
      } catch (error) {
        const problem = error instanceof Error ? error.message : String(error);
        if (attempt === 1) this.#say(`the calls of the dead worker could not be handed back yet: ${problem}`);
        if (Date.now() > giveUpAt) return this.#say('the calls of the dead worker are left to their heartbeat timeout');
        await pause(restartPauseMs(attempt), undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** Closes the connection. */
  async close(): Promise<void> {
    const connecting = this.#connecting;
    this.#connecting = undefined;
    // a failed connection has nothing to close
    await connecting?.then(
      ({ connection }) => connection.close(),
      () => undefined,
    );
  }

  async #reportOnce({ worker, runs, cause }: WorkerDeath): Promise<void> {
    if (runs.length === 0) return;
    const [{ client }, recovery] = await Promise.all([this.#connect(worker.server), loadHandBack()]);
    const dead = new Map([[worker.identity, cause]]);
    const handedBack = await client.withDeadline(Date.now() + REPORT_MS_MAX, () => recovery.handBack(runs, { client, dead, reset: 'all' }));
    const failed = handedBack.filter((call) => call.failed);
    if (failed.length === 0) return;
    const types = [...new Set(failed.map(({ type }) => type))].join(', ');
    this.#say(`handed ${failed.length} running ${failed.length === 1 ? 'call' : 'calls'} back to their runs (${types})`);
  }

  async #connect(server: WorkerServer): Promise<{ readonly connection: Connection; readonly client: Client }> {
    this.#connecting ??= connect(server);
    try {
      return await this.#connecting;
    } catch (error) {
      this.#connecting = undefined;
      throw error;
    }
  }
}

// both are loaded late: the start of the worker does not wait for them
const loadHandBack = async (): Promise<{ readonly handBack: typeof handBack }> => await import('../recovery/hand-back.js');

async function connect({ connectionOptions, namespace }: WorkerServer): Promise<{ connection: Connection; client: Client }> {
  const { Client, Connection } = await import('@temporalio/client');
  const connection = await Connection.connect(connectionOptions);
  return { connection, client: new Client({ connection, namespace }) };
}
