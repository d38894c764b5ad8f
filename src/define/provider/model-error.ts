import type { FailureType } from '../../contracts/failures.js';
import { cutMiddle, cutText, redact } from '../../contracts/text/redact.js';

/** The failure types a provider may give; `Executor.Failed` is that of agents which are child processes. */
export type ModelFailureType = Extract<FailureType, `Model.${string}` | 'Executor.Failed'>;

/** What a ModelError carries beside its message. */
export interface ModelErrorDetails {
  readonly status?: number;
  readonly requestId?: string;
  /** What the server asked for, unclamped. */
  readonly retryAfterMs?: number;
  /** Of a context overflow: a lower output limit may be enough. */
  readonly hint?: 'lower-output';
  readonly cause?: unknown;
}

/** Thrown by providers: one model request failed. Its message is cut to 2 KiB and redacted; `type` decides about retry and failover. */
export class ModelError extends Error {
  readonly type: ModelFailureType;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly hint: ModelErrorDetails['hint'];

  constructor(type: ModelFailureType, message: string, details: ModelErrorDetails = {}) {
    super(redact(cutMiddle(message, 2_048)), { cause: details.cause });
    this.name = 'ModelError';
    this.type = type;
    this.status = details.status;
    this.requestId = details.requestId === undefined ? undefined : shownRequestId(details.requestId);
    this.retryAfterMs = details.retryAfterMs;
    this.hint = details.hint;
  }

  /** The same failure in other words, without its cause. */
  inWords(message: string): ModelError {
    const { status, requestId, retryAfterMs, hint } = this;
    const details = Object.entries({ status, requestId, retryAfterMs, hint }).filter(([, value]) => value !== undefined);
    return new ModelError(this.type, message, Object.fromEntries(details));
  }
}

/** Several times the longest that a provider gives. */
const BYTES_MAX = 200;

/** A server's id of a request as it may stand in a history: a proxy can put anything into that header, of any length. Never throws. */
export function shownRequestId(id: string): string {
  return redact(cutText(id, BYTES_MAX));
}
