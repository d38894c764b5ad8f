import { DECISION_LIMITS } from '../../contracts/constants/limits.js';
import { BUDGET_APPROVAL } from '../../contracts/ids.js';
import type { ApproveInput, DecidedApproval, DenyInput } from '../../contracts/schemas/approval.js';
import type { Run } from '../state/run.js';
import { inputFailure } from '../temporal/failures.js';

const FIELDS = {
  approve: { known: ['callId', 'by'], shape: '{"callId": "…", "by"?: "…"}' },
  deny: { known: ['callId', 'by', 'reason'], shape: '{"callId": "…", "by"?: "…", "reason"?: "…"}' },
} as const;

const CHARS_MAX = { by: DECISION_LIMITS.byCharsMax, reason: DECISION_LIMITS.reasonCharsMax } as const;

/**
 * Refuses what updates `approve` and `deny` may not do, from whatever client they come. Throws `Input.Invalid` with a message that
 * begins with `BAD_ANSWER`, `NO_SUCH_APPROVAL`, `RUN_CLOSED`, `RUN_ENDING`, or says what was decided already.
 */
export function checkDecision(run: Run, verb: 'approve', input: unknown): asserts input is ApproveInput;
export function checkDecision(run: Run, verb: 'deny', input: unknown): asserts input is DenyInput;
export function checkDecision(run: Run, verb: 'approve' | 'deny', input: unknown): void {
  const callId = checkShape(verb, input);
  if (run.result) throw inputFailure(`RUN_CLOSED: the run already ended: ${run.result.reason}`);
  const earlier = earlierDecision(run, callId);
  if (earlier) throw inputFailure(`already decided: ${describeDecision(earlier)} at ${earlier.at}`);
  if (!run.approvals.pending(callId)) {
    throw inputFailure(`NO_SUCH_APPROVAL: no call ${JSON.stringify(callId.slice(0, 80))} waits here; 'approvals' lists those that do`);
  }
  if (run.mustStop) throw inputFailure('RUN_ENDING: the run is stopping; nothing new starts');
  if (verb === 'approve' && callId === BUDGET_APPROVAL) throw inputFailure('BAD_ANSWER: extend the budget, or deny it');
}

/** How an approval ended, for a person and for the model: `approved by U`, `denied by U`, `denied (timed out)`. */
export function describeDecision({ decision, by }: Pick<DecidedApproval, 'decision' | 'by'>): string {
  if (decision === 'expired') return 'denied (timed out)';
  return `${decision} by ${by}`;
}

/** How the approval ended before. One whose time is over is denied, also when the loop has not come to it yet. */
function earlierDecision({ approvals }: Run, callId: string): Pick<DecidedApproval, 'decision' | 'by' | 'at'> | undefined {
  const pending = approvals.pending(callId);
  if (!pending) return approvals.decided(callId);
  if (pending.expires === undefined || Date.parse(pending.expires) > Date.now()) return undefined;
  return { decision: 'expired', by: '', at: pending.expires };
}

function checkShape(verb: 'approve' | 'deny', input: unknown): string {
  const { known, shape } = FIELDS[verb];
  const bad = inputFailure(`BAD_ANSWER: ${verb} takes ${shape}`);
  if (input === null || typeof input !== 'object' || !('callId' in input)) throw bad;
  const { callId, ...rest } = input;
  if (typeof callId !== 'string' || callId === '') throw bad;
  for (const [name, value] of Object.entries(rest)) {
    if (!known.some((field) => field === name)) throw bad;
    checkText(name, value);
  }
  return callId;
}

function checkText(name: string, value: unknown): void {
  if (value === undefined) return;
  const most = name === 'by' ? CHARS_MAX.by : CHARS_MAX.reason;
  if (typeof value === 'string' && value.trim() !== '' && value.length <= most) return;
  throw inputFailure(`BAD_ANSWER: ${name} is a text of 1–${most} characters`);
}
