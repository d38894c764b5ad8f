import { createHash } from 'node:crypto';

/** What every provider takes: OpenAI at most 40 characters, Anthropic only these. */
const LEGAL_ID = /^[a-zA-Z0-9_-]{1,40}$/u;

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** A call's id as providers take it. Ours are legal; one of an imported transcript may not be, and then is replaced, the same by the same. */
export function wireCallId(callId: string): string {
  return LEGAL_ID.test(callId) ? callId : `call_${createHash('sha256').update(callId).digest('hex').slice(0, 32)}`;
}

/**
 * Makes the ids of one request for servers that want them of an exact length, of letters and digits only: the same for a call and its
 * result, never one for two calls, and the same in each request that begins with the same calls.
 *
 * @param chars of an id, 6 to 40; absent: `wireCallId`
 */
export function wireCallIds(chars: number | undefined): (callId: string) => string {
  if (chars === undefined) return wireCallId;
  const made = new Map<string, string>();
  const taken = new Set<string>();
  return (callId) => {
    const id = made.get(callId) ?? unusedId(callId, chars, taken);
    made.set(callId, id);
    taken.add(id);
    return id;
  };
}

function unusedId(callId: string, chars: number, taken: ReadonlySet<string>): string {
  for (let round = 0; ; round += 1) {
    const bytes = createHash('sha512').update(`${callId}\n${round}`).digest().subarray(0, chars);
    const id = Array.from(bytes, (byte) => LETTERS[byte % LETTERS.length]).join('');
    if (!taken.has(id)) return id;
  }
}
