import { hashJson } from '../../contracts/digest.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { SessionInput } from '../../contracts/schemas/session.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { isSessionKey } from '../../contracts/text/ids.js';
import { escapeMarkdown } from '../../contracts/text/sanitize-text.js';
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

/** What lists and the Web UI show of a session, and the hash of its options. */
export function describeSession({ auth: _auth, ...input }: SessionInput): {
  readonly memo: Record<string, unknown>;
  readonly staticSummary: string;
  readonly staticDetails: string;
} {
  const { key, agent = 'default', channel, defaults } = input;
  const facts = [
    ['agent', agent],
    ['channel', channel],
    ['model', defaults?.model],
    ['workspace', defaults?.context?.workspace],
    ['tenant', defaults?.tenant],
  ].flatMap(([name, value]) => (value === undefined ? [] : [`- ${name}: ${escapeMarkdown(value)}`]));
  const advice =
    'Query `session` shows its active run, its queue and its last runs. Update `send` and signal `message` send a message, update `unsend` ' +
    'withdraws one. Each run is a child with its own signals and updates.';
  return {
    memo: { sessionHash: hashJson(input), key, agent, ...(defaults?.tenant === undefined ? {} : { tenant: defaults.tenant }) },
    staticSummary: `**session ${escapeMarkdown(key)}** ${escapeMarkdown(agent)}`,
    staticDetails: [...facts, '', advice].join('\n'),
  };
}
