import type { RunHandle } from '../../client/run-handle.js';
import { checkSteer } from '../../client/validate/steer-input.js';
import { STEER_LIMITS } from '../../contracts/constants/limits.js';
import type { CliContext } from '../host/context.js';
import { type DirectOptions, direct, workInBackground } from '../host/signal-run.js';
import { parseDuration } from '../options/duration.js';

const BOUNDS = { leastMs: STEER_LIMITS.ttlMsMin, mostMs: STEER_LIMITS.ttlMsMax };

/** The options of `steer`. */
export interface SteerOptions extends DirectOptions {
  readonly id?: string;
  readonly mode?: string;
  readonly ttl?: string;
}

/** `steer RUN "TEXT"`: sends a message to a running agent. */
export async function steer(runId: string, text: string, options: SteerOptions, context: CliContext): Promise<number> {
  const { id, mode, ttl } = options;
  const message = checkSteer({
    text,
    ...(id === undefined ? {} : { id }),
    ...(mode === undefined ? {} : { mode }),
    ...(ttl === undefined ? {} : { ttlMs: parseDuration(ttl, 'ttl', BOUNDS) }),
  });
  const verb = {
    runId,
    options,
    withoutWorker: workInBackground,
    direction: async (run: RunHandle) => {
      const sent = await run.steer(message);
      return { answer: sent, line: `message ${sent.id} queued for ${runId}`, live: true };
    },
  };
  return await direct(verb, context);
}
