import { NO_USAGE } from '../../contracts/models/usage.js';
import type { Usage } from '../../contracts/schemas/model.js';
import type { ModelPair } from '../policies/model/next-model.js';
import { usageIn } from '../state/spending.js';
import type { ActivityProblem } from '../temporal/failures.js';

/** The failures so far of one requested answer. */
export interface Setbacks {
  workers: number;
  references: number;
  overflows: number;
  /** A provider reported that a lower output limit would fit. */
  lowersOutput: boolean;
  unreachable: number;
  unreachableSinceMs: number | undefined;
  /** Names of the models and keys that failed since the last wait for all of them. */
  readonly tried: Set<string>;
  /** Those of them, by name, that failed only because of a cooldown reported by another run. */
  readonly sharedFailures: Map<string, ModelPair>;
  /** Cooldowns reported by other runs are ignored from now on. */
  ignoresSharedCooldowns: boolean;
  /** The smallest context window of the chosen models, in tokens; undefined before the first choice. */
  window: number | undefined;
  /** Every failed attempt, in order. */
  readonly attempts: FailedAttempt[];
}

/** A failed attempt: the model, the key and the failure. */
interface FailedAttempt {
  readonly model: string;
  readonly credential?: string;
  readonly type: string;
  readonly message: string;
}

/** The setbacks of a new request: none. */
export function newSetbacks(): Setbacks {
  return {
    workers: 0,
    references: 0,
    overflows: 0,
    lowersOutput: false,
    unreachable: 0,
    unreachableSinceMs: undefined,
    tried: new Set(),
    sharedFailures: new Map(),
    ignoresSharedCooldowns: false,
    window: undefined,
    attempts: [],
  };
}

/** True for a lost attempt and for one that reported its usage. A request that the provider rejected is not charged. */
export function isCharged({ workerLost, type, lastHeartbeat }: ActivityProblem): boolean {
  return workerLost || type === 'Model.ThinkingBudget' || usageIn(lastHeartbeat) !== undefined;
}

/** The usage of a lost attempt: from its last heartbeat, else everything that was reserved for it. */
export function lostUsage({ lastHeartbeat }: ActivityProblem, reserved: Pick<Usage, 'inputTokens' | 'outputTokens'>): Usage {
  return usageIn(lastHeartbeat) ?? { ...NO_USAGE, ...reserved };
}
