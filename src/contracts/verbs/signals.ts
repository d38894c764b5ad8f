import { DECISION_LIMITS, STEER_LIMITS } from '../constants/limits.js';
import { STEER_MODES } from '../constants/steer-modes.js';
import type { HoldInput, SteerInput } from '../schemas/run.js';
import { writeDuration } from '../text/duration.js';
import { EMPTY_MESSAGE, label, messageId, messageText, milliseconds, oneOf } from './fields.js';
import type { Verb } from './verb.js';

/** Signal `cancel`. */
export interface CancelInput {
  readonly reason?: string;
}

const { ttlMsMin, ttlMsMax } = STEER_LIMITS;
const { holdTtlMsMin, holdTtlMsMax } = DECISION_LIMITS;

/** The fields of a message for a live run: signal `steer` and update `submit` take the same. */
export const MESSAGE = {
  fields: {
    text: messageText,
    id: messageId,
    mode: oneOf(STEER_MODES),
    ttlMs: milliseconds(ttlMsMin, ttlMsMax, (given) => (given > 0 ? Math.min(given, ttlMsMax) : undefined)),
  },
  required: { text: EMPTY_MESSAGE },
  bare: 'text',
  tolerant: true,
} as const;

const steer: Verb<SteerInput, { readonly id: string }> = {
  ...MESSAGE,
  name: 'steer',
  kind: 'signal',
  description:
    'Send a message to the running agent: {"text": "…", "id"?: "…", "mode"?: "boundary" | "preempt" | "interrupt"}. The model sees it in its ' +
    'next request. preempt skips calls that have not started; interrupt also aborts the running model call. The same id twice is one message.',
  command: {
    summary: 'send a message to a running agent; the model sees it before its next response',
    arguments: {
      text: 'the message, in quotes; begin with the line /model PROVIDER/MODEL or /think LEVEL to switch the model or its thinking',
    },
    flags: {
      id: { flag: '--id <id>', help: 'message ID; a resend with the same ID is ignored' },
      mode: {
        flag: '--mode <mode>',
        help: 'boundary (default): after all calls of the turn; preempt: skip calls that have not started; interrupt: skip them and abort the current response',
      },
      ttlMs: {
        flag: '--ttl <duration>',
        kind: 'duration',
        bounds: { leastMs: ttlMsMin, mostMs: ttlMsMax },
        help: 'discard the message if it is not delivered within this time, such as 30s',
      },
    },
    withoutWorker: 'start',
    report: ({ runId, answer: { id } }) => ({ json: { id }, line: `message ${id} queued for ${runId}` }),
  },
};

const cancel: Verb<CancelInput, void> = {
  name: 'cancel',
  kind: 'signal',
  description:
    'Cancel the run: {"reason"?: "…"}. Running calls are aborted, no new call starts, and the run completes with reason cancelled.',
  fields: { reason: label(DECISION_LIMITS.cancelReasonCharsMax) },
  tolerant: true,
  command: {
    summary: 'cancel a run and stop its running calls',
    flags: { reason: { flag: '--reason <text>', help: 'reason for the cancellation' } },
    acceptsClosed: true,
    withoutWorker: 'start',
    report: ({ runId, closed }) =>
      closed === undefined
        ? { json: { cancelRequested: true }, line: `${runId}: cancel requested` }
        : { json: { cancelRequested: false, status: closed }, line: `${runId}: already ${closed === 'closed' ? 'completed' : closed}` },
  },
};

const pause: Verb<object, void> = {
  name: 'pause',
  kind: 'signal',
  description: 'Pause the run after the running calls finish. No further call starts until resume.',
  fields: {},
  command: {
    summary: 'pause a run after its running calls',
    report: ({ runId }) => ({
      json: { paused: true },
      line: `${runId}: pauses after its running calls finish; resume it with: perdure resume ${runId}`,
    }),
  },
};

const resume: Verb<object, void> = {
  name: 'resume',
  kind: 'signal',
  description: 'Continue a paused run.',
  fields: {},
  command: {
    summary: 'continue a paused run',
    withoutWorker: 'start',
    report: ({ runId }) => ({ json: { paused: false }, line: `${runId}: resumed` }),
  },
};

const hold: Verb<HoldInput, void> = {
  name: 'hold',
  kind: 'signal',
  description: 'Hold the run between turns for a live conversation: {"ttlMs"?: 600000, "by"?: "…"}. The hold ends after ttlMs.',
  fields: {
    ttlMs: milliseconds(holdTtlMsMin, holdTtlMsMax, (given) => Math.min(Math.max(Math.round(given), holdTtlMsMin), holdTtlMsMax)),
    by: label(DECISION_LIMITS.byCharsMax),
  },
  tolerant: true,
  command: {
    summary: 'hold a run after its current turn, until release or --ttl',
    flags: {
      ttlMs: {
        flag: '--ttl <duration>',
        kind: 'duration',
        bounds: { leastMs: holdTtlMsMin, mostMs: holdTtlMsMax },
        help: `release the run after this time (default: ${writeDuration(DECISION_LIMITS.holdTtlMsDefault)})`,
      },
      by: { flag: '--by <name>', help: 'your name, shown to other users', default: 'command line' },
    },
    report: ({ runId, input: { ttlMs = DECISION_LIMITS.holdTtlMsDefault } }) => ({
      json: { held: true },
      line: `${runId}: held for at most ${writeDuration(ttlMs)}; release it with: perdure release ${runId}`,
    }),
  },
};

const release: Verb<object, void> = {
  name: 'release',
  kind: 'signal',
  description: 'End a hold.',
  fields: {},
  command: {
    summary: 'release a held run',
    withoutWorker: 'start',
    report: ({ runId }) => ({ json: { held: false }, line: `${runId}: released` }),
  },
};

/** The signals that act on a run, in the order of `--help`. */
export const SIGNALS = { steer, cancel, pause, resume, hold, release } as const;
