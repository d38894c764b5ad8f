import type { ApplicationFailure } from '@temporalio/common';
import type { CallModelInput } from '../../contracts/activities.js';
import { FAILOVER_LIMITS, MODEL_LIMITS } from '../../contracts/constants/limits.js';
import type { FailureType } from '../../contracts/failures.js';
import { CooldownTable, needsPerson } from '../../contracts/models/cooldowns.js';
import { failure } from '../runtime/failures.js';

type CalledModel = Pick<CallModelInput, 'model' | 'credential' | 'hasAlternative'>;

/** Cooldowns of models and keys that the runs of one worker share, so that each run need not hit the same failure. Not durable. */
export class SharedCooldowns {
  readonly #table = new CooldownTable();

  /** Throws the failure of another run while its cooldown lasts and the route has an alternative. No request is made then. */
  refuseCooling({ model, credential, hasAlternative }: CalledModel, now = Date.now()): void {
    const cooling = hasAlternative ? this.#table.of({ model, credential }, now) : undefined;
    if (!cooling) return;
    const sharedMs = cooling.until - now;
    const text = `${model} is cooling down for another ${Math.ceil(sharedMs / 1_000)} s: it failed in another run (${cooling.why})`;
    // the table contains only types of failures.ts
    throw failure(cooling.why as FailureType, text, { details: [{ sharedMs }], nonRetryable: true });
  }

  /** Starts a cooldown after the last attempt of a call. A failure that Temporal retries may pass within a second. */
  failed({ model, credential }: CalledModel, problem: ApplicationFailure, attempt: number, now = Date.now()): void {
    if (!problem.nonRetryable && attempt < MODEL_LIMITS.attemptsMax) return;
    const details: unknown = problem.details?.[0];
    if (details !== null && typeof details === 'object' && 'sharedMs' in details) return;
    const requested = details !== null && typeof details === 'object' && 'retryAfterMs' in details ? details.retryAfterMs : undefined;
    const retryAfterMs = typeof requested === 'number' ? requested : undefined;
    const type = problem.type ?? '';
    const sharedMs = needsPerson(type) ? FAILOVER_LIMITS.sharedLastingCooldownMs : undefined;
    this.#table.cool({ model, credential, type, retryAfterMs, sharedMs, now });
  }

  answered({ model, credential }: CalledModel): void {
    this.#table.answered({ model, credential });
  }
}
