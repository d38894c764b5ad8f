import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, CancelledFailure, TerminatedFailure, TimeoutFailure } from '@temporalio/common';
import { PAYLOAD_LIMITS } from '../contracts/constants/limits.js';
import { cutText, redact } from '../contracts/failures.js';
import { NO_USAGE } from '../contracts/no-usage.js';
import { type Progress, type Reason, RunResult } from '../contracts/schemas/run.js';

/** What a closed run left, when its own result is not at hand: a reason and the error to show. */
export interface ClosedFact {
  readonly reason: Extract<Reason, 'cancelled' | 'error'>;
  readonly error?: { readonly type: string; readonly message: string };
}

/** The whole result that a failed run carries in its failure (`details[0]`); undefined when it carries none. */
export function resultInFailure(error: unknown): RunResult | undefined {
  if (!(error instanceof WorkflowFailedError) || !(error.cause instanceof ApplicationFailure)) return undefined;
  const parsed = RunResult.safeParse(error.cause.details?.[0]);
  return parsed.success ? parsed.data : undefined;
}

/** What Temporal itself says of a run that ended without a result. Rethrows what is no run's end. */
export function closedFact(error: unknown): ClosedFact {
  if (!(error instanceof WorkflowFailedError)) throw error;
  const { cause } = error;
  const message = redact(cutText(cause?.message ?? error.message, PAYLOAD_LIMITS.failureMessageBytesMax));
  if (cause instanceof CancelledFailure) return { reason: 'cancelled' };
  if (cause instanceof TerminatedFailure) return { reason: 'error', error: { type: 'Run.Terminated', message } };
  if (cause instanceof TimeoutFailure) return { reason: 'error', error: { type: 'Run.TimedOut', message } };
  const type = cause instanceof ApplicationFailure && cause.type ? cause.type : 'Run.Failed';
  return { reason: 'error', error: { type, message } };
}

/** A result made of what is known from outside. `progress` is missing when no worker could be asked: then usage and turns read 0. */
export function resultFromFact(fact: ClosedFact, run: { runId: string; executionId: string; progress: Progress | undefined }): RunResult {
  const { progress } = run;
  const turns = progress?.turn ?? 0;
  return {
    v: 1,
    runId: run.runId,
    executionId: run.executionId,
    reason: fact.reason,
    output: '',
    turns,
    toolCalls: 0,
    usage: progress?.usage ?? NO_USAGE,
    ...(progress?.costUsd === undefined ? {} : { costUsd: progress.costUsd }),
    models: progress ? [progress.model] : [],
    unconsumed: [],
    ...(fact.error ? { error: { ...fact.error, turn: turns } } : {}),
  };
}
