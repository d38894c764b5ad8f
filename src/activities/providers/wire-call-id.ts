import { createHash } from 'node:crypto';

/** What every provider takes: OpenAI at most 40 characters, Anthropic only these. */
const LEGAL_ID = /^[a-zA-Z0-9_-]{1,40}$/u;

/** A call's id as providers take it. Ours are legal; one of an imported transcript may not be, and then is replaced, the same by the same. */
export function wireCallId(callId: string): string {
  return LEGAL_ID.test(callId) ? callId : `call_${createHash('sha256').update(callId).digest('hex').slice(0, 32)}`;
}
