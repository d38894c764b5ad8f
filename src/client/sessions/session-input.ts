import { PerdureError } from '../../contracts/perdure-error.js';
import { SessionInput } from '../../contracts/schemas/session.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { isSessionKey } from '../../contracts/text/ids.js';
import { checkRunInput } from '../validate/run-input.js';

/** Options of a session, which count when its first message starts it. */
export type SessionOptions = Pick<SessionInput, 'agent' | 'defaults' | 'queue' | 'channel' | 'bounds'>;

/** Validates the key of a session. Throws `BAD_SESSION_ID` (exit 2). */
function checkSessionKey(key: unknown): string {
  if (typeof key === 'string' && isSessionKey(key)) return key;
  throw new PerdureError(
    'BAD_SESSION_ID',
    `use 1–200 characters of A–Z a–z 0–9 . _ : -, not starting with . or -; got ${echoValue(key)}`,
    2,
  );
}

/** Builds the input of a session. Throws `BAD_SESSION_ID`, and for its options as `AgentClient.start` does (exit 2). */
export function checkSessionInput(key: string, options: SessionOptions): SessionInput {
  const parsed = SessionInput.safeParse({ v: 1, key: checkSessionKey(key), ...options });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new PerdureError('BAD_OPTION', `${issue?.path.join('.') || 'session'}: ${issue?.message ?? 'not valid'}`, 2);
  }
  const { agent, defaults } = parsed.data;
  // the fields of its runs have the errors of a run
  if (defaults) checkRunInput({ task: 'x', ...defaults, ...(agent === undefined ? {} : { agent }) });
  return parsed.data;
}
