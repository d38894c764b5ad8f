import type { ExtendInput } from '../../../../contracts/schemas/run.js';

/**
 * How the cards send decisions.
 *
 * Contract: those that send reject with ApiError, and the card can be used again then. Each may be called again after a rejection.
 */
export interface DecisionSender {
  readonly approve: (callId: string) => Promise<void>;
  /** `reason`: what the model sees. Empty: none. */
  readonly deny: (callId: string, reason: string) => Promise<void>;
  /** Adds to limits of the run. One whose reached limit is high enough then continues. */
  readonly extend: (by: ExtendInput) => Promise<void>;
  readonly answer: (callId: string, answer: string) => Promise<void>;
  readonly decline: (callId: string) => Promise<void>;
  /** Called when a card was decided and is about to go, so that the focus has a place. */
  readonly onDecided: () => void;
  /** Called with the reason of a rejection. */
  readonly onError: (error: unknown) => void;
}
