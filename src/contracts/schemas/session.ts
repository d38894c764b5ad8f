import { z } from 'zod';
import { AUTH_LIMITS, INPUT_LIMITS, SESSION_LIMITS } from '../constants/limits.js';
import { DROP_POLICIES, QUEUE_MODES } from '../constants/queue-modes.js';
import { FilePart, TextPart } from './message.js';
import { RunInput } from './run.js';

/** What happens to a message that arrives while a run is active: one of QUEUE_MODES. */
export const QueueMode = z.enum(QUEUE_MODES);
export type QueueMode = z.infer<typeof QueueMode>;

/** Which message is dropped when the queue is full: one of DROP_POLICIES. */
export const DropPolicy = z.enum(DROP_POLICIES);
export type DropPolicy = z.infer<typeof DropPolicy>;

/** Options of the queue of a session. A field without a value is that of the next level: session, channel, config. */
export const QueueOptions = z.strictObject({
  /** Default mode of messages. `followup`: each has a run of its own. @default followup */
  mode: QueueMode.optional(),
  /** Messages that may wait. The one in progress does not count. @default 20 */
  cap: z.number().int().min(1).max(SESSION_LIMITS.capMax).optional(),
  /** What is dropped at the cap. `new`: the new message. `old`: the oldest. `summarize`: the oldest; the agent gets its beginning. @default new */
  drop: DropPolicy.optional(),
  /** Wait for further `collect` messages, in milliseconds, counted from the newest one. @default 500 */
  debounceMs: z.number().int().min(0).max(SESSION_LIMITS.debounceMsMax).optional(),
});
export type QueueOptions = z.infer<typeof QueueOptions>;

/** Fields of each run of a session. */
const SessionDefaults = RunInput.omit({
  v: true,
  task: true,
  messages: true,
  continuedFrom: true,
  parent: true,
  inherits: true,
  session: true,
  auth: true,
}).partial();

/** Input of workflow `agentSession`: one conversation. The first message starts it. */
export const SessionInput = z.strictObject({
  /** Version of the input. @default 1 */
  v: z.literal(1).optional(),
  /** Key of the session. Its workflow has the id `session/KEY`, its runs `KEY/1`, `KEY/2` … */
  key: z.string().min(1).max(INPUT_LIMITS.workflowIdCharsMax),
  /** Name of the agent of all runs. @default the default agent of the config */
  agent: z.string().max(INPUT_LIMITS.nameCharsMax).optional(),
  /** Further fields of each run, such as `model`, `maxTurns`, `context` and `tenant`. */
  defaults: SessionDefaults.optional(),
  /** Options of the queue. They override those of the channel and of the config. */
  queue: QueueOptions.optional(),
  /** Name of the channel of the messages. Its options are in `sessions.channels` of the config. @default none */
  channel: z.string().max(SESSION_LIMITS.channelCharsMax).optional(),
  /** Thresholds of continue-as-new, for operators and tests. */
  bounds: z.strictObject({ continueAsNewEvents: z.number().int().min(20).optional() }).optional(),
  /** Signature of this input by the owner of the embedded server. The clients of this package add it. @default none */
  auth: z.string().max(AUTH_LIMITS.signatureCharsMax).optional(),
});
export type SessionInput = z.infer<typeof SessionInput>;

/** A part of a message to a session: a text, or a file. */
export type SentPart = TextPart | FilePart;

/** Argument of update `send` and of signal `message`. It has a text, parts, or both: the text then comes first. */
export interface SendInput {
  /** Id of the message, for idempotency: the same id twice is one message. @default generated */
  readonly id?: string;
  /** Text of the message. */
  readonly text?: string;
  /** Texts and files: `{"type": "text", "text": "…"}` or `{"type": "file", "mime": "…", "dataBase64": "…"}`. */
  readonly parts?: readonly SentPart[];
  /** Queue mode of this message. @default that of the session */
  readonly queue?: QueueMode;
}

/** Argument of update `unsend`. */
export interface UnsendInput {
  /** Id of the message. */
  readonly id: string;
}

/** Answer of update `unsend`. */
export interface Unsent {
  /** Id of the message. */
  readonly id: string;
  /** The message was waiting, and no run will answer it. */
  readonly unsent: true;
}

/** A message that waits. */
export interface WaitingSend {
  /** Id of the message. */
  readonly id: string;
  /** Position in the queue, from 0. */
  readonly position: number;
  /** Its queue mode. */
  readonly mode: QueueMode;
}

/** A run of a session, and the messages that it answers. */
export interface SessionRun {
  /** Id of the run. */
  readonly runId: string;
  /** Ids of the messages, in the order in which they were accepted. */
  readonly messageIds: readonly string[];
  /** Why the run ended: the reason of its result, or `lost` when its workflow ended without one. Absent while it is active. */
  readonly reason?: string;
}

/** A message that no run will answer. */
export interface DroppedSend {
  /** Id of the message. */
  readonly id: string;
  /** Why: `unsent`, the queue was full, the session was cancelled, or a signature is missing. */
  readonly reason: string;
}

/** Result of query `session`. */
export interface SessionState {
  /** Key of the session. */
  readonly key: string;
  /** Id of the active run. Absent while the session is idle. */
  readonly active?: string;
  /** Why the session waits, for operators. */
  readonly waitingFor?: string;
  /** Messages that wait, in the order in which they will be answered. */
  readonly queued: readonly WaitingSend[];
  /** The last 50 runs, oldest first, with the active one. */
  readonly runs: readonly SessionRun[];
  /** The last 200 messages that no run will answer. */
  readonly dropped: readonly DroppedSend[];
}

/** An event of a session. `seq` counts from 1, `at` is in milliseconds since 1970. */
export type SessionEvent = { readonly seq: number; readonly at: number } & SessionEventBody;

/** An event without its sequence number and time. */
export type SessionEventBody =
  /** A message was queued. */
  | { type: 'message.accepted'; id: string; position: number; mode: QueueMode }
  /** A message was passed to the active run. */
  | { type: 'message.steered'; id: string; runId: string }
  /** The run ended before the message was delivered: it waits again. */
  | { type: 'message.returned'; id: string; runId: string }
  /** A message was dropped: no run answers it. */
  | { type: 'message.dropped'; id: string; reason: string }
  /** A run started. */
  | { type: 'session.run.started'; runId: string; messageIds: readonly string[] }
  /** A run ended. */
  | { type: 'session.run.ended'; runId: string; messageIds: readonly string[]; reason: string }
  /** The session continued as new, in a fresh history. */
  | { type: 'session.continued'; executionId: string };

/** Result of query `events` of a session. */
export interface SessionEventPage {
  /**
   * First execution of the session. If it differs from that of an earlier page, the session was started anew, and its events are numbered
   * from 1 again. Absent with a worker of an earlier version.
   */
  readonly executionId?: string;
  /** Sequence number of the oldest event that is kept. If it is above `after` + 1, events between them are no longer stored. */
  readonly first: number;
  /** Pass this as `after` to read the next page. */
  readonly next: number;
  /** Events of the page, oldest first. */
  readonly events: readonly SessionEvent[];
}

/** What a worker determined for a session when it started. */
export interface PreparedSession {
  /** Messages and runs need the signature of the server's owner. */
  readonly signed?: boolean;
  /** Options of the queue of channel and config. */
  readonly queue: QueueOptions;
  /** Search attributes that the server has. Writing any other one fails the workflow task on every attempt. */
  readonly searchAttributes: readonly string[];
}

/** Input of activity `prepareSession`. */
export interface PrepareSessionInput {
  readonly sessionId: string;
  readonly input: SessionInput;
  /** The start of the session, and its first execution. Absent in a history that continues one: the start was checked before. */
  readonly started?: { readonly at: string; readonly executionId: string };
}

/** What was prepared, or why the session cannot be used. */
export type PrepareSessionResult = PreparedSession | { readonly problem: string };

/** Input of activity `checkMessages`, which checks the signatures of messages to a session. */
export interface CheckMessagesInput {
  readonly sessionId: string;
  /** The first execution of the session: a signature counts for one session. */
  readonly executionId: string;
  readonly messages: readonly { readonly id: string; readonly content: string; readonly acceptedAt: number; readonly auth?: unknown }[];
}

/** The messages whose signature does not count, each with a code and a sentence. */
export type CheckMessagesResult = { readonly problems: readonly { readonly id: string; readonly problem: string }[] };

/** Input of workflow `scheduledMessage`, which a schedule starts: a message to a session. */
export const ScheduledMessageInput = z.strictObject({
  v: z.literal(1).optional(),
  /** The session. The first message starts it with these options. */
  session: SessionInput.omit({ auth: true }),
  /** The message. Its id is that of the workflow. */
  parts: z
    .array(z.union([TextPart, FilePart]))
    .min(1)
    .max(SESSION_LIMITS.partsMax),
});
export type ScheduledMessageInput = z.infer<typeof ScheduledMessageInput>;

/** Result of workflow `scheduledMessage`. */
export interface ScheduledMessageResult {
  readonly v: 1;
  /** Key of the session. */
  readonly session: string;
  /** Id of the message. */
  readonly messageId: string;
  /** Why the message has no signature, at an embedded server. A session that needs one drops the message. */
  readonly unsigned?: string;
}

/** Input of activity `sendScheduled`. */
export interface SendScheduledInput {
  /** Id of the workflow: the schedule and the time. */
  readonly firing: string;
  readonly executionId: string;
  readonly input: ScheduledMessageInput;
}

/** The activities of sessions. */
export interface SessionActivities {
  readonly prepareSession: (input: PrepareSessionInput) => Promise<PrepareSessionResult>;
  readonly checkMessages: (input: CheckMessagesInput) => Promise<CheckMessagesResult>;
  /** Sends the message of a schedule to its session. */
  readonly sendScheduled: (input: SendScheduledInput) => Promise<ScheduledMessageResult>;
}
