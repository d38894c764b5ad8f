import { PerdureError } from '../../contracts/perdure-error.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { ensureBackground } from './background.js';
import type { Place, PlaceOptions } from './workplace.js';

/** Requests before the new worker counts as failed. It loads the config and the workflow code before it answers. */
const ATTEMPTS_MAX = 12;

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

/** Repeats a request until a worker answers it. */
export async function repeat<Answer>(place: Place, ask: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      const isRepeated = error instanceof PerdureError && error.code === 'NO_WORKER' && place.location.kind === 'embedded';
      if (!isRepeated || attempt >= ATTEMPTS_MAX) throw error;
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
