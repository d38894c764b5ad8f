import { HOSTING_LIMITS } from '../../contracts/constants/limits.js';
import type { OpenRun } from '../recovery/started-activities.js';
import type { RunningCall } from './messages.js';

/**
 * The runs that have a call on a worker process, and those that had one a moment ago: the server may not have the result of their last
 * call yet, and their next workflow task may be in the sticky queue of the process.
 */
export class HeldRuns {
  readonly #calls = new Map<string, RunningCall>();
  /** By execution, the oldest first. */
  readonly #recent = new Map<string, { readonly run: OpenRun; readonly until: number }>();

  started(call: RunningCall): void {
    this.#calls.set(keyOf(call), call);
  }

  ended(call: RunningCall, now: number): void {
    this.#calls.delete(keyOf(call));
    const { run } = call;
    // the newest is the last
    this.#recent.delete(run.runId);
    this.#recent.set(run.runId, { run, until: now + HOSTING_LIMITS.recentRunMs });
    for (const [key, { until }] of this.#recent) {
      if (until > now && this.#recent.size <= HOSTING_LIMITS.recentRunsMax) break;
      this.#recent.delete(key);
    }
  }

  /** The calls that run now. */
  get calls(): readonly RunningCall[] {
    return [...this.#calls.values()];
  }

  /** Those with a running call first, each once. */
  runs(now: number): OpenRun[] {
    const held = this.calls.map(({ run }) => run);
    const recent = [...this.#recent.values()].flatMap(({ run, until }) => (until > now ? [run] : []));
    return [...new Map([...held, ...recent].map((run) => [run.runId, run])).values()];
  }
}

function keyOf({ run, activityId }: RunningCall): string {
  return `${run.runId}/${activityId}`;
}
