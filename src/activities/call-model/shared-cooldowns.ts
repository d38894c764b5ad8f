import type { ApplicationFailure } from '@temporalio/common';
import type { CallModelInput } from '../../contracts/activities.js';
import { FAILOVER_LIMITS, MODEL_LIMITS } from '../../contracts/constants/limits.js';
import type { FailureType } from '../../contracts/failures.js';
import { CooldownTable, needsPerson } from '../../contracts/models/cooldowns.js';
import { failure } from '../runtime/failures.js';

type Asked = Pick<CallModelInput, 'model' | 'credential' | 'hasAlternative'>;

/** What the runs of one worker found out about models and keys, so that not each of them has to ask in vain. Nothing of it is durable. */
export class SharedCooldowns {
  readonly #table = new CooldownTable();

  /** Throws the failure that another run had not long ago, when there is somebody else to ask; no request is made then. */
  refuseCooling({ model, credential, hasAlternative }: Asked, now = Date.now()): void {
    const cooling = hasAlternative ? this.#table.of({ model, credential }, now) : undefined;
    if (!cooling) return;
    const sharedMs = cooling.until - now;
    const said = `${model} is left alone for ${Math.ceil(sharedMs / 1_000)} s more: another run found out that it failed (${cooling.why})`;
    // the table is filled with types of failures.ts only
    throw failure(cooling.why as FailureType, said, { details: [{ sharedMs }], nonRetryable: true });
  }

  /** Notes a failure with which this call ends: one that is tried again may be over in a second. */
  note({ model, credential }: Asked, problem: ApplicationFailure, attempt: number, now = Date.now()): void {
    if (!problem.nonRetryable && attempt < MODEL_LIMITS.attemptsMax) return;
    const details: unknown = problem.details?.[0];
    if (details !== null && typeof details === 'object' && 'sharedMs' in details) return;
    const wanted = details !== null && typeof details === 'object' && 'retryAfterMs' in details ? details.retryAfterMs : undefined;
    const retryAfterMs = typeof wanted === 'number' ? wanted : undefined;
    const type = problem.type ?? '';
    const sharedMs = needsPerson(type) ? FAILOVER_LIMITS.sharedLastingCooldownMs : undefined;
    this.#table.cool({ model, credential, type, retryAfterMs, sharedMs, now });
  }

  answered({ model, credential }: Asked): void {
    this.#table.answered({ model, credential });
  }
}
