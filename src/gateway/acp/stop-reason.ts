import type { StopReason } from '@agentclientprotocol/sdk';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { Reason, RunResult } from '../../contracts/schemas/run.js';

/**
 * Why the turn of a prompt ended, for the result of its run. The protocol has one reason for all limits but that of an answer. Throws
 * PerdureError with the failure type for a run that failed.
 */
export function stopReasonOf({ runId, reason, error }: Pick<RunResult, 'runId' | 'reason' | 'error'>): StopReason {
  if (reason === 'error') throw new PerdureError(error?.type ?? 'RUN_FAILED', `${error?.message ?? 'the run failed'} (run ${runId})`, 1);
  return STOP_REASONS[reason];
}

const STOP_REASONS: Readonly<Record<Exclude<Reason, 'error'>, StopReason>> = {
  completed: 'end_turn',
  max_tokens: 'max_tokens',
  max_turns: 'max_turn_requests',
  budget: 'max_turn_requests',
  deadline: 'max_turn_requests',
  loop_detected: 'max_turn_requests',
  refusal: 'refusal',
  cancelled: 'cancelled',
};
