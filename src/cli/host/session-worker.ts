import { setTimeout as delay } from 'node:timers/promises';
import { PerdureError } from '../../contracts/perdure-error.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { ensureBackground } from './background.js';
import type { Place, PlaceOptions } from './workplace.js';

/** Time after which a new worker counts as failed, on a slow machine too. It loads the config and the workflow code before it answers. */
const START_MS_MAX = 120_000;

/** Pause between two requests. A server that has seen no worker yet refuses at once. */
const PAUSE_MS = 200;

/** A request to a session, which only a worker answers. It is repeated, so it must have one effect. */
export interface SessionRequest<Answer> {
  readonly ask: () => Promise<Answer>;
  readonly tell: (line: string) => void;
  /** The environment of a new worker, with the keys. @default that of this process */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Sends a request to a session. On the embedded server, a worker is started in the background when none is running, and waited for. On a
 * configured server without a worker it throws `NO_WORKER` (5).
 */
export async function withSessionWorker<Answer>(
  place: Place,
  where: PlaceOptions,
  { ask, tell, env }: SessionRequest<Answer>,
): Promise<Answer> {
  if (place.location.kind === 'embedded' && !(await place.hasWorker())) {
    const { pid } = await ensureBackground(place.stateDir, where, env);
    tell(`process ${pid} answers in the background; stop it with: kill ${pid}`);
  }
  return await repeat(place, ask);
}

/** Repeats a request until a worker answers it. Throws `NO_WORKER` (5) after 2 minutes, on a configured server at once. */
export async function repeat<Answer>(place: Place, ask: () => Promise<Answer>): Promise<Answer> {
  const until = Date.now() + START_MS_MAX;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const isRepeated = error instanceof PerdureError && error.code === 'NO_WORKER' && place.location.kind === 'embedded';
      if (!isRepeated || Date.now() > until) throw error;
      await delay(PAUSE_MS);
    }
  }
}

/** The error for a session when no server is configured and the folder never had one. */
export function noSuchSession(key: string): PerdureError {
  return new PerdureError(
    'NO_SESSION',
    `no session ${echoValue(key)}: this folder has no sessions and no server is configured; set TEMPORAL_ADDRESS or --address`,
    3,
  );
}
