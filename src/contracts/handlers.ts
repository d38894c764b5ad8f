import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { RunSetup } from './activities.js';
import { hashJson } from './digest.js';
import type { EventPage, RunEvent } from './event.js';
import type { ApprovalList, ApproveInput, DecidedApproval, DenyInput } from './schemas/approval.js';
import type { Usage } from './schemas/model.js';
import type { PageRequest, TranscriptPage, UnreadPage } from './schemas/page.js';
import type { AnsweredQuestion, AnswerInput } from './schemas/question.js';
import type { ExtendInput, HoldInput, Progress, Receipt, RunResult, SteerInput, SteerRecord } from './schemas/run.js';
import type { SendInput, SessionEvent, SessionEventPage, SessionState, UnsendInput, Unsent } from './schemas/session.js';
import type { Step } from './schemas/step.js';
import { SESSION_SIGNALS, SESSION_UPDATES, SIGNALS, UPDATES } from './verbs/index.js';

/** Sends a message to the running agent. The model sees it in its next request. The same id twice is one message. */
export const steer = defineSignal<[SteerInput]>('steer');
/** Cancels the run. Running calls are aborted, no new call starts, and the run completes with reason `cancelled`. */
export const cancel = defineSignal<[{ reason?: string }?]>('cancel');
/** Pauses the run after the running calls finish. No further call starts until `resume`. */
export const pause = defineSignal('pause');
/** Continues a paused run. */
export const resume = defineSignal('resume');
/** Holds the run between turns, for a live conversation. The hold ends after `ttlMs`; a second hold sets a new end. */
export const hold = defineSignal<[HoldInput?]>('hold');
/** Ends a hold. */
export const release = defineSignal('release');

/** Sends a message like `steer`, and returns a receipt. */
export const submit = defineUpdate<Receipt, [SteerInput]>('submit');
/** Increases limits that the run has, and returns its progress. A run that waits for more budget continues once it has enough. */
export const extend = defineUpdate<Progress, [ExtendInput]>('extend');
/** Approves a pending call. The call runs once, with the arguments that were shown. */
export const approve = defineUpdate<DecidedApproval, [ApproveInput]>('approve');
/** Answers a pending question. */
export const answer = defineUpdate<AnsweredQuestion, [AnswerInput]>('answer');
/** Denies a pending call, or declines a question. The model sees the name and the reason. `callId` `budget` denies a request for more budget. */
export const deny = defineUpdate<DecidedApproval, [DenyInput]>('deny');

/** Returns the status: phase, turn, cause of a wait, usage, cost, pending approvals. */
export const progress = defineQuery<Progress>('progress');
/** Returns messages of the transcript, in pages. */
export const transcript = defineQuery<TranscriptPage, [PageRequest]>('transcript');
/** Returns events in order. The newest 1,000 or 256 KiB are kept. */
export const events = defineQuery<EventPage, [{ after: number; types?: readonly RunEvent['type'][] }]>('events');
/** Returns the usage of the run and of its last model call, and the cost. */
export const usage = defineQuery<{ total: Usage; last?: Usage; costUsd?: number }>('usage');
/** Returns prompt and tools, as captured when the run started. */
export const setup = defineQuery<RunSetup>('setup');
/** Returns pending approvals and questions, and past decisions and answers. */
export const approvals = defineQuery<ApprovalList>('approvals');
/** Returns the unread messages with their whole texts, in pages. A closed run keeps them. */
export const unread = defineQuery<UnreadPage, [PageRequest?]>('unread');
/** Returns the delivery records of messages. */
export const steers = defineQuery<readonly SteerRecord[]>('steers');
/** Returns the last 500 turns. */
export const steps = defineQuery<readonly Step[]>('steps');
/** Returns the result of a closed run, and null before the end. */
export const result = defineQuery<RunResult | null>('result');

/** The handlers of a session. Its signal and its updates take a message, its queries show what became of it. */
export const SESSION_HANDLERS = {
  /** Sends a message. Durable without a worker. The same id twice is one message. */
  message: defineSignal<[SendInput]>('message'),
  /** Sends a message like `message`, and returns a receipt. */
  send: defineUpdate<Receipt, [SendInput]>('send'),
  /** Withdraws a message that waits. */
  unsend: defineUpdate<Unsent, [UnsendInput]>('unsend'),
  /** Returns the active run, the queue, the last runs and the dropped messages. */
  session: defineQuery<SessionState>('session'),
  /** Returns events in order. The newest 1,000 or 256 KiB are kept. */
  events: defineQuery<SessionEventPage, [{ after: number; types?: readonly SessionEvent['type'][] }]>('events'),
} as const;

/** Workflow type of a session, for clients of any language. */
export const AGENT_SESSION = 'agentSession';

/** The workflow id of a session. */
export function sessionId(key: string): string {
  return `session/${key}`;
}

/** Workflow type that sends the message of a schedule to a session. */
export const SCHEDULED_MESSAGE = 'scheduledMessage';

/** Workflow type of a run, for clients of any language. */
export const AGENT_RUN = 'agentRun';

/** Workflow types that keep the limits of tenants and of providers. Their handlers are for the workers of this package. */
export const TENANT_LEDGER = 'tenantLedger';
export const PROVIDER_LEDGER = 'providerLedger';

/**
 * Workflow id of a ledger: `tenant/QUEUE/NAME` or `provider/QUEUE/NAME`. A part with other characters than those of simple names is
 * replaced by its hash, so that no two names share a ledger and no id is too long.
 */
export function ledgerId(kind: 'tenant' | 'provider', taskQueue: string, name: string): string {
  return [kind, ...[taskQueue, name].map((text) => (/^[\w.:@-]{1,200}$/u.test(text) ? text : `~${hashJson(text).slice(0, 32)}`))].join('/');
}

/** Default task queue of workers and clients. */
export const DEFAULT_TASK_QUEUE = 'perdure';

const DESCRIBED_VERBS = {
  ...describe(SIGNALS),
  ...describe(UPDATES),
};

/** Descriptions of the handlers, as the Web UI shows them. */
export const HANDLER_DESCRIPTIONS = {
  ...DESCRIBED_VERBS,
  progress: 'Status, phase, turn and turn limit, cause of a wait, usage and cost.',
  transcript: 'Messages of the transcript, in pages: {"from": 0, "to"?: n, "bytesMax"?: 65536, "offset"?: 0 for parts of large messages}.',
  events: 'Events in order: {"after": 0, "types"?: ["tool.call"]}. The newest 1,000 or 256 KiB are kept.',
  usage: 'Tokens of the run and of its last model call, and the cost.',
  setup: 'Prompt and tools, as captured when the run started.',
  approvals: 'Pending approvals and questions, and past decisions and answers.',
  unread: 'Messages that wait for delivery, or were never delivered, in pages: {"from"?: 0, "offset"?: 0, "bytesMax"?: 65536}.',
  steers: 'Delivery records of the messages that were sent to the run.',
  steps: 'Turns with status, times, usage and calls. Available after the end too.',
  result: 'The result of a closed run; null before the end.',
} as const;

/** Descriptions of the handlers of a session, as the Web UI shows them. */
export const SESSION_DESCRIPTIONS = {
  ...describe(SESSION_SIGNALS),
  ...describe(SESSION_UPDATES),
  session: 'Active run, waiting messages, the last 50 runs with the messages that they answer, and the dropped messages.',
  events: 'Events in order: {"after": 0, "types"?: ["message.dropped"]}. The newest 1,000 or 256 KiB are kept.',
} as const;

function describe<Name extends string>(verbs: Readonly<Record<Name, { readonly description: string }>>): Readonly<Record<Name, string>> {
  const described = Object.entries<{ readonly description: string }>(verbs).map(([name, { description }]) => [name, description]);
  // the same names as the verbs
  return Object.fromEntries(described) as Record<Name, string>;
}
