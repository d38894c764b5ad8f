import { PerdureError } from '../../contracts/perdure-error.js';
import { SessionInput } from '../../contracts/schemas/session.js';
import { checkRunInput, checkSessionKey } from '../validate/run-input.js';

/** Options of a session, which count when its first message starts it. */
export type SessionOptions = Pick<SessionInput, 'agent' | 'defaults' | 'queue' | 'channel' | 'bounds'>;

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
