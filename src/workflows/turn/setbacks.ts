import type { ModelPair } from '../policies/model/next-model.js';

/** What went wrong so far with one question to the model. */
export interface Setbacks {
  workers: number;
  references: number;
  overflows: number;
  /** A provider said that a shorter answer would fit. */
  lowersOutput: boolean;
  unreachable: number;
  unreachableSinceMs: number | undefined;
  /** Models with their keys, by name, that failed since all of them were last free to be asked. */
  readonly tried: Set<string>;
  /** Those of them of which only another run said that they fail, by name. */
  readonly heard: Map<string, ModelPair>;
  /** What other runs say counts no longer. */
  inEarnest: boolean;
  /** The smallest window of a model that was to be asked; undefined before the first one. */
  window: number | undefined;
  /** Every such failure, in order. */
  readonly attempts: FailedAttempt[];
}

/** A model that did not answer, and why. */
interface FailedAttempt {
  readonly model: string;
  readonly credential?: string;
  readonly type: string;
  readonly message: string;
}

/** A question that was not asked yet. */
export function newSetbacks(): Setbacks {
  return {
    workers: 0,
    references: 0,
    overflows: 0,
    lowersOutput: false,
    unreachable: 0,
    unreachableSinceMs: undefined,
    tried: new Set(),
    heard: new Map(),
    inEarnest: false,
    window: undefined,
    attempts: [],
  };
}
