import type { RunHandle } from '../../client/run-handle.js';
import { checkHold } from '../../client/validate/steer-input.js';
import { DECISION_LIMITS } from '../../contracts/constants/limits.js';
import type { CliContext } from '../host/context.js';
import { type DirectOptions, direct, sayNoWorker, workInBackground } from '../host/signal-run.js';
import { parseDuration, writeDuration } from '../options/duration.js';

const DEFAULT_TTL = writeDuration(DECISION_LIMITS.holdTtlMsDefault);
const BOUNDS = { leastMs: DECISION_LIMITS.holdTtlMsMin, mostMs: DECISION_LIMITS.holdTtlMsMax };

/** The options of `hold`. */
export interface HoldOptions extends DirectOptions {
  readonly ttl?: string;
  readonly by?: string;
}

/** `hold RUN`: holds a run before its next turn, for a limited time. */
export async function hold(runId: string, options: HoldOptions, context: CliContext): Promise<number> {
  const { ttl, by = 'the command line' } = options;
  const checked = checkHold({ by, ...(ttl === undefined ? {} : { ttlMs: parseDuration(ttl, 'ttl', BOUNDS) }) });
  const verb = {
    runId,
    options,
    withoutWorker: sayNoWorker,
    direction: async (run: RunHandle) => {
      await run.hold(checked);
      const line = `${runId}: held for at most ${ttl ?? DEFAULT_TTL}; release it with: perdure release ${runId}`;
      return { answer: { held: true }, line, live: true };
    },
  };
  return await direct(verb, context);
}

/** `release RUN`: ends a hold. */
export async function release(runId: string, options: DirectOptions, context: CliContext): Promise<number> {
  const verb = {
    runId,
    options,
    withoutWorker: workInBackground,
    direction: async (run: RunHandle) => {
      await run.release();
      return { answer: { held: false }, line: `${runId}: released`, live: true };
    },
  };
  return await direct(verb, context);
}
