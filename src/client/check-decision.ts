import { cleanText } from '../contracts/clean-text.js';
import { CLIENT_LIMITS, DECISION_LIMITS } from '../contracts/constants/limits.js';
import { PerdureError } from '../contracts/perdure-error.js';
import type { ApproveInput, DenyInput } from '../contracts/schemas/approval.js';
import { echoValue } from './echo-value.js';

/** A decision about one call, checked and cleaned. Throws `BAD_ANSWER` (exit 2) before anything is sent. */
export function checkDecision(decision: DenyInput): DenyInput {
  const { callId, by, reason } = decision;
  return {
    callId: checkLine('call', callId, CLIENT_LIMITS.idCharsMax),
    ...(by === undefined ? {} : { by: checkLine('by', by, DECISION_LIMITS.byCharsMax) }),
    ...(reason === undefined ? {} : { reason: checkLine('reason', reason, DECISION_LIMITS.reasonCharsMax) }),
  } satisfies ApproveInput;
}

function checkLine(name: string, value: unknown, charsMax: number): string {
  const text = typeof value === 'string' ? cleanText(value).trim() : '';
  if (text !== '' && text.length <= charsMax) return text;
  throw new PerdureError('BAD_ANSWER', `${name}: a text of 1–${charsMax} characters, got ${echoValue(value)}`, 2);
}
