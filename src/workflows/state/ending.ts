import type { JsonValue } from '../../contracts/schemas/message.js';
import type { Reason, RunResult } from '../../contracts/schemas/run.js';

/** How a loop ends: with a reason, or by going on in a fresh history. */
export type Ending =
  | {
      readonly kind: 'end';
      readonly reason: Reason;
      readonly emptyAnswer?: boolean;
      readonly structured?: JsonValue;
      readonly error?: NonNullable<RunResult['error']>;
    }
  | { readonly kind: 'continue-as-new' };
