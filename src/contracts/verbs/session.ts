import { SESSION_LIMITS } from '../constants/limits.js';
import { QUEUE_MODES } from '../constants/queue-modes.js';
import type { Receipt } from '../schemas/run.js';
import type { SendInput, UnsendInput, Unsent } from '../schemas/session.js';
import { EMPTY_MESSAGE, messageId, messageParts, messageText, oneOf } from './fields.js';
import type { Verb } from './verb.js';

/** The fields of a message for a session: update `send` and signal `message` take the same. */
const SENT = {
  fields: { text: messageText, parts: messageParts(SESSION_LIMITS.partsMax), id: messageId, queue: oneOf(QUEUE_MODES) },
  oneOfThese: { fields: ['text', 'parts'], fault: EMPTY_MESSAGE },
  bare: 'text',
  tolerant: true,
} as const;

const message: Verb<SendInput, { readonly id: string }> = {
  ...SENT,
  name: 'message',
  kind: 'signal',
  description:
    'Send a message to the session: {"text": "…", "id"?: "…", "queue"?: "followup" | "steer" | "collect" | "interrupt"}. The same id twice is ' +
    'one message.',
};

const send: Verb<SendInput, Receipt> = {
  ...SENT,
  name: 'send',
  kind: 'update',
  description: 'Like message, with a receipt: {"text": "…", "id"?: "…", "queue"?: "…"} gives {id, accepted, position, duplicate}.',
  resend: ({ id = '' }) => `send again with the same id ${id}`,
  command: {
    summary: 'queue a message for a session, and do not wait for the answer',
    arguments: { text: 'the message, in quotes' },
    flags: {
      id: { flag: '--id <id>', help: 'message ID; a resend with the same ID is ignored' },
      queue: {
        flag: '--queue <mode>',
        help: 'if a run is active: wait (followup), wait and share a run (collect), join it (steer) or cancel it (interrupt); default: set by the session',
      },
    },
    report: ({ runId: key, answer }) => ({ json: answer, line: receiptLine(key, answer) }),
  },
};

const unsend: Verb<UnsendInput, Unsent> = {
  name: 'unsend',
  kind: 'update',
  description: 'Withdraw a message that waits: {"id": "…"}. A message that a run works on is not withdrawn.',
  fields: { id: messageId },
  required: { id: { code: 'BAD_MESSAGE_ID', message: 'unsend takes {"id": "…"}' } },
  resend: () => 'send it again',
  command: {
    summary: 'withdraw a waiting message from a session',
    arguments: { id: "message ID, from 'perdure session KEY'" },
    report: ({ runId: key, input: { id } }) => ({ json: { id, unsent: true }, line: `message ${id} of session ${key} withdrawn` }),
  },
};

/** The signals of a session. */
export const SESSION_SIGNALS = { message } as const;

/** The updates of a session, in the order of `--help`. */
export const SESSION_UPDATES = { send, unsend } as const;

function receiptLine(key: string, { id, accepted, position, duplicate }: Receipt): string {
  if (!accepted && duplicate) return `message ${id} was dropped by session ${key}; send it with another id`;
  if (!accepted) return `message ${id} was not accepted: the queue of session ${key} is full`;
  const again = duplicate ? ' (accepted before)' : '';
  return position < 0
    ? `message ${id} accepted by session ${key}${again}`
    : `message ${id} accepted by session ${key}, position ${position}${again}`;
}
