import { condition, getExternalWorkflowHandle } from '@temporalio/workflow';
import { checkMessages } from '../temporal/session-proxies.js';
import { followRun, settleRun } from './follow-run.js';
import { nextStep, type Step } from './next-step.js';
import type { Session } from './session.js';
import { publishStatus } from './session-attributes.js';
import type { QueuedSend } from './session-queue.js';
import { startRun } from './start-run.js';

/**
 * The loop of a session: one run at a time, in the order of the queue. Returns when the session was cancelled and has no active run, or when
 * its history is long. While nothing happens it waits without a timer.
 */
export async function serveQueue(session: Session): Promise<'end' | 'continue-as-new'> {
  // a run that an earlier history started
  if (session.active) followRun(session, session.active, undefined);
  for (;;) {
    const step = nextStep(session, Date.now());
    switch (step.kind) {
      case 'settle':
        settleRun(session);
        break;
      case 'check':
        await check(session);
        break;
      case 'start':
        publishStatus(session, 'running');
        await startRun(session);
        break;
      case 'pass':
        await passToRun(session, step.id);
        break;
      case 'stop':
        await stopRun(session, step.why);
        break;
      case 'wait':
        await wait(session, step);
        break;
      case 'end':
      case 'continue-as-new':
        return step.kind;
    }
  }
}

/** Waits until there is something to do. An idle session has no timer. */
async function wait(session: Session, { for: reason, ms }: Extract<Step, { kind: 'wait' }>): Promise<void> {
  if (!session.active && session.queue.isEmpty) publishStatus(session, 'waiting');
  session.waitingFor = reason;
  const isDue = (): boolean => {
    const next = nextStep(session, Date.now());
    // the first message to collect ends a wait without a timer
    return next.kind !== 'wait' || (next.ms === undefined) !== (ms === undefined);
  };
  if (ms === undefined) await condition(isDue);
  else await condition(isDue, ms);
  session.waitingFor = undefined;
}

/** Checks the signatures of new messages. One without a signature that counts is dropped. */
async function check(session: Session): Promise<void> {
  const unchecked = session.queue.unchecked();
  const { problems } = await checkMessages({
    sessionId: session.workflowId,
    executionId: session.executionId,
    messages: unchecked.map(({ id, at, unchecked: signed }) => ({
      id,
      acceptedAt: at,
      content: signed?.content ?? '',
      auth: signed?.auth,
    })),
  });
  const refused = new Map(problems.map(({ id, problem }) => [id, problem]));
  for (const { id } of unchecked) {
    const problem = refused.get(id);
    if (problem === undefined) session.queue.admit(id);
    else session.queue.drop(id, problem);
  }
}

/** Passes a message to the active run. A run that has ended does not take it: it waits again. */
async function passToRun(session: Session, id: string): Promise<void> {
  const { active, queue } = session;
  const message = queue.waiting.find((waiting) => waiting.id === id);
  if (!active || !message) return;
  queue.take(id);
  session.updateActive({ steered: [...active.steered, message] });
  if (await tell(active.runId, 'steer', { id, text: textOf(message) })) {
    session.events.add({ type: 'message.steered', id, runId: active.runId });
    return;
  }
  session.updateActive({ steered: session.active?.steered.filter((steered) => steered !== message) ?? [] });
  queue.putBack([message], session.rules);
}

/** Asks the active run to stop. It ends with the result that it has. */
async function stopRun(session: Session, why: string): Promise<void> {
  session.updateActive({ stopping: true });
  if (session.active) await tell(session.active.runId, 'cancel', { reason: why });
}

/** Sends a signal to a run. False for one that has ended. */
async function tell(runId: string, signal: 'steer' | 'cancel', input: object): Promise<boolean> {
  try {
    await getExternalWorkflowHandle(runId).signal(signal, input);
    return true;
  } catch {
    // the server has no open run of this id: its end is on its way
    return false;
  }
}

/** The text of a message that has no other parts. */
function textOf({ parts }: QueuedSend): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n\n');
}
