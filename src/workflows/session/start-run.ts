import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, patched, startChild, WorkflowIdReusePolicy } from '@temporalio/workflow';
import { PAYLOAD_LIMITS, SESSION_LIMITS } from '../../contracts/constants/limits.js';
import { hashJson } from '../../contracts/digest.js';
import { AGENT_RUN } from '../../contracts/handlers.js';
import type { RunInput, RunResult } from '../../contracts/schemas/run.js';
import type { SentPart } from '../../contracts/schemas/session.js';
import { escapeMarkdown } from '../../contracts/text/sanitize-text.js';
import { readActivityProblem } from '../temporal/failures.js';
import { signStart } from '../temporal/subagent-proxies.js';
import { followRun } from './follow-run.js';
import type { ActiveRun, Session } from './session.js';
import type { Batch } from './session-queue.js';

/** In the first histories, each of several waiting messages that interrupt did so with the run of the newer one. */
const NEWEST_INTERRUPTS = 'newest-interrupt-first';

/**
 * Starts the run of the next batch as a child `KEY/n`. Its messages leave the queue in the same step in which the run becomes active. If the
 * run cannot be started, they are dropped with the reason.
 */
export async function startRun(session: Session): Promise<void> {
  const { queue, rules } = session;
  if (queue.hasRivals(rules) && patched(NEWEST_INTERRUPTS)) queue.deferRivals(rules);
  const batch = queue.takeBatch(rules);
  const messageIds = batch.messages.map(({ id }) => id);
  for (let tried = 0; tried < SESSION_LIMITS.idsTriedMax; tried += 1) {
    // an earlier session of the same key may have used many numbers
    session.number += tried === 0 ? 1 : 2 ** (tried - 1);
    const active: ActiveRun = { runId: `${session.key}/${session.number}`, executionId: '', messageIds, steered: [] };
    session.active = active;
    try {
      const input = await signed(session, active.runId, inputOf(session, batch));
      const handle = await startChild<(input: RunInput) => Promise<RunResult>>(AGENT_RUN, {
        workflowId: active.runId,
        args: [input],
        // the run answers messages that were accepted: it outlives a session that is terminated, and one that continues as new
        parentClosePolicy: ParentClosePolicy.ABANDON,
        workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
        memo: memoOf(input, batch.parts),
        staticSummary: `**${escapeMarkdown(input.agent ?? 'default')}** ${escapeMarkdown(lineOf(batch.parts))}`.slice(
          0,
          PAYLOAD_LIMITS.summaryCharsMax,
        ),
      });
      session.updateActive({ executionId: handle.firstExecutionRunId });
      session.events.add({ type: 'session.run.started', runId: active.runId, messageIds });
      followRun(session, active, handle);
      return;
    } catch (error) {
      session.active = undefined;
      if (error instanceof WorkflowExecutionAlreadyStartedError) continue;
      const { type, message } = readActivityProblem(error);
      return queue.dropTaken(batch.messages, `${type}: ${message}`);
    }
  }
  queue.dropTaken(batch.messages, `no free id for a run of session ${session.key}`);
}

/** The input of a run: the fields of the session, the task, and the conversation by reference. */
function inputOf({ input, conversation }: Session, { parts }: Batch): RunInput {
  const { key, agent, defaults = {} } = input;
  return {
    v: 1,
    ...(agent === undefined ? {} : { agent }),
    ...defaults,
    task: taskOf(parts),
    session: key,
    ...(conversation ? { inherits: conversation } : {}),
  };
}

/** Texts alone are one text, so that the task reads as one message. */
function taskOf(parts: readonly SentPart[]): RunInput['task'] {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === parts.length ? texts.join('\n\n') : [...parts];
}

/** The input with the signature of the server's owner, for a session whose start and messages had one. */
async function signed({ prepared }: Session, runId: string, input: RunInput): Promise<RunInput> {
  if (!prepared?.signed) return input;
  try {
    const { auth } = await signStart({ runId, input });
    return { ...input, auth };
  } catch (error) {
    // a worker without the key may ask for no signatures now: the run checks its start itself
    readActivityProblem(error);
    return input;
  }
}

/** The memo that clients give a run: lists show its task, and `continue` copies its options. */
function memoOf({ auth: _auth, inherits: _inherits, ...input }: RunInput, parts: readonly SentPart[]): Record<string, unknown> {
  const { task: _task, ...options } = input;
  return { inputHash: hashJson(input), task: lineOf(parts), options };
}

function lineOf(parts: readonly SentPart[]): string {
  return parts
    .map((part) => (part.type === 'text' ? part.text.slice(0, 1_000) : `[${part.mime}]`))
    .join(' ')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, 120)
    .toWellFormed();
}
