import type { ScheduleOptions as TemporalOptions } from '@temporalio/client';
import { SCHEDULE_LIMITS } from '../../contracts/constants/limits.js';
import { AGENT_RUN, SCHEDULED_MESSAGE } from '../../contracts/handlers.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { RunInput } from '../../contracts/schemas/run.js';
import { ScheduledMessageInput } from '../../contracts/schemas/session.js';
import { cutText } from '../../contracts/text/redact.js';
import { escapeMarkdown } from '../../contracts/text/sanitize-text.js';
import { memoOf, summarizeRun } from '../runs/run-summary.js';
import { checkSessionInput } from '../sessions/session-input.js';
import type { ScheduleMemo } from './describe-schedule.js';

/** The workflow that a schedule starts at each of its times. */
export type ScheduleAction = Pick<TemporalOptions['action'], 'workflowType' | 'args' | 'memo' | 'staticSummary' | 'staticDetails'> & {
  /** The only argument. */
  readonly input: RunInput | ScheduledMessageInput;
};

/**
 * The start of a checked run, or with `session` the message to a session. Throws `MESSAGE_TOO_LARGE`, `BAD_SESSION_ID`, and `BAD_OPTION` for
 * an input that a session does not take (exit 2).
 */
export function actionOf(name: string, input: RunInput, session: string | undefined): ScheduleAction {
  const action = session === undefined ? runAction(input) : messageAction(name, input, session);
  const bytes = Buffer.byteLength(JSON.stringify(action.input));
  if (bytes > SCHEDULE_LIMITS.inputBytesMax) {
    const message = `the input of a schedule: limit ${SCHEDULE_LIMITS.inputBytesMax} bytes, got ${bytes}`;
    throw new PerdureError('MESSAGE_TOO_LARGE', message, 2);
  }
  return { ...action, args: [action.input] };
}

/** What a schedule does, in one line, as operators read it in the Web UI. */
export function purposeOf({ agent = 'default', session, task }: Pick<ScheduleMemo, 'agent' | 'session' | 'task'>): string {
  const what = session === undefined ? `Starts a run of agent ${agent}` : `Sends a message to session ${session}`;
  return `${what}: ${task}`.slice(0, SCHEDULE_LIMITS.noteCharsMax).toWellFormed();
}

function runAction(input: RunInput): Omit<ScheduleAction, 'args'> {
  return {
    workflowType: AGENT_RUN,
    input,
    memo: { ...memoOf(input) },
    ...summarizeRun(input),
  };
}

function messageAction(name: string, input: RunInput, session: string): Omit<ScheduleAction, 'args'> {
  const { v: _v, task, agent, messages, continuedFrom, parent, inherits, session: _session, auth: _auth, ...defaults } = input;
  const notForSessions = Object.entries({ messages, continuedFrom, parent, inherits }).find(([, value]) => value !== undefined);
  if (notForSessions) throw new PerdureError('BAD_OPTION', `${notForSessions[0]}: not for a message to a session`, 2);
  const parts = typeof task === 'string' ? [{ type: 'text', text: task }] : task;
  const message = ScheduledMessageInput.safeParse({
    v: 1,
    session: checkSessionInput(session, {
      ...(agent === undefined ? {} : { agent }),
      ...(Object.keys(defaults).length === 0 ? {} : { defaults }),
    }),
    parts,
  });
  if (!message.success) throw new PerdureError('BAD_OPTION', 'task: a message to a session has texts and files', 2);
  return {
    workflowType: SCHEDULED_MESSAGE,
    input: message.data,
    memo: { session, task: memoOf(input).task },
    staticSummary: cutText(`**schedule ${escapeMarkdown(name)}** message to session ${escapeMarkdown(session)}`, SUMMARY_BYTES_MAX),
    staticDetails: `The session answers the message in a run of its own. Query \`session\` of workflow \`session/${session}\` shows which.`,
  };
}

/** The limit of Temporal's API. */
const SUMMARY_BYTES_MAX = 400;
