import { setHandler } from '@temporalio/workflow';
import * as handlers from '../../contracts/handlers.js';
import { HANDLER_DESCRIPTIONS as describe } from '../../contracts/handlers.js';
import { BUDGET_APPROVAL } from '../../contracts/ids.js';
import type { DecidedApproval } from '../../contracts/schemas/approval.js';
import { cleanText } from '../../contracts/text/sanitize-text.js';
import { progressOf } from '../operator/progress.js';
import { type ApprovalEnd, endApproval } from '../operator/settle-approval.js';
import { checkDecision } from '../operator/validate-decision.js';
import { checkExtension } from '../operator/validate-extension.js';
import { readSteer } from '../state/inbox.js';
import type { Run } from '../state/run.js';
import { inputFailure } from '../temporal/failures.js';
import { openRun, type RunDesk, showInbox } from './handler-context.js';

/** Sets the updates: each is checked by its validator, and again when it runs. */
export function registerUpdates(desk: RunDesk): void {
  registerSubmit(desk);
  registerExtend(desk);
  registerApprove(desk);
  registerDeny(desk);
}

function registerSubmit(desk: RunDesk): void {
  setHandler(
    handlers.submit,
    (input) => {
      desk.inbox.updates += 1;
      checkMessage(desk, input);
      const receipt = desk.inbox.enqueue(input);
      if (!receipt.duplicate) desk.events.add({ type: 'steer.accepted', id: receipt.id, position: receipt.position });
      showInbox(desk);
      return receipt;
    },
    {
      description: describe.submit,
      validator: (input) => checkMessage(desk, input),
    },
  );
}

function registerExtend(desk: RunDesk): void {
  setHandler(
    handlers.extend,
    (input) => {
      desk.inbox.updates += 1;
      const run = openRun(desk);
      checkExtension(run, input);
      run.extend(input);
      // a run that asked for more has enough of it: its question is answered
      if (mayGoFurther(run)) endApproval(run, BUDGET_APPROVAL, { decision: 'approved', by: 'extend' });
      return progressOf(run);
    },
    { description: describe.extend, validator: (input) => checkExtension(openRun(desk), input) },
  );
}

/** True when no cap stands in the way of another turn. */
function mayGoFurther(run: Run): boolean {
  return run.stopReason() === undefined && !run.clock.isOver;
}

function registerApprove(desk: RunDesk): void {
  setHandler(
    handlers.approve,
    (input) => {
      desk.inbox.updates += 1;
      const run = openRun(desk);
      checkDecision(run, 'approve', input);
      return decide(run, input.callId, { decision: 'approved', by: input.by ?? NOBODY_NAMED });
    },
    { description: describe.approve, validator: (input) => checkDecision(openRun(desk), 'approve', input) },
  );
}

function registerDeny(desk: RunDesk): void {
  setHandler(
    handlers.deny,
    (input) => {
      desk.inbox.updates += 1;
      const run = openRun(desk);
      checkDecision(run, 'deny', input);
      const { callId, by = NOBODY_NAMED, reason } = input;
      return decide(run, callId, { decision: 'denied', by, ...(reason === undefined ? {} : { reason }) });
    },
    { description: describe.deny, validator: (input) => checkDecision(openRun(desk), 'deny', input) },
  );
}

/** A decision whose sender did not say who they are. */
const NOBODY_NAMED = 'an operator';

/** What people wrote is read by models and kept in stores: it is made fit for both. */
function decide(run: Run, callId: string, { decision, by, reason }: ApprovalEnd): DecidedApproval {
  const decided = endApproval(run, callId, {
    decision,
    by: cleanText(by),
    ...(reason === undefined ? {} : { reason: cleanText(reason) }),
  });
  if (!decided) throw inputFailure(`NO_SUCH_APPROVAL: no call ${JSON.stringify(callId)} waits here`);
  return decided;
}

function checkMessage({ run, refused }: RunDesk, input: unknown): void {
  const result = run?.result ?? refused;
  if (result) throw inputFailure(`RUN_CLOSED: the run already ended: ${result.reason}`);
  const reading = readSteer(input);
  if ('problem' in reading) throw inputFailure(reading.problem);
}
