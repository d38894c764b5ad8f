import { defineUpdate, setHandler } from '@temporalio/workflow';
import type { DecidedApproval } from '../../contracts/schemas/approval.js';
import { BUDGET_APPROVAL } from '../../contracts/text/ids.js';
import { UPDATES, type UpdateName } from '../../contracts/verbs/index.js';
import { readVerb, type Verb } from '../../contracts/verbs/verb.js';
import { progressOf } from '../operator/progress.js';
import { type ApprovalEnd, endApproval } from '../operator/settle-approval.js';
import { checkDecision } from '../operator/validate-decision.js';
import { checkExtension } from '../operator/validate-extension.js';
import type { Run } from '../state/run.js';
import { inputFailure } from '../temporal/failures.js';
import { openRun, type RunDesk, showInbox } from './handler-context.js';

/** Handles one update. Contract: neither awaits; both throw `Input.Invalid` for what the run refuses. */
interface UpdateHandler {
  readonly validate: (desk: RunDesk, given: unknown) => void;
  readonly handle: (desk: RunDesk, given: unknown) => unknown;
}

const HANDLERS: Readonly<Record<UpdateName, UpdateHandler>> = {
  submit: handler(UPDATES.submit, refuseClosed, (desk, message) => {
    const receipt = desk.inbox.enqueue(message);
    if (!receipt.duplicate) desk.events.add({ type: 'steer.accepted', id: receipt.id, position: receipt.position });
    showInbox(desk);
    return receipt;
  }),
  extend: handler(
    UPDATES.extend,
    (desk, input) => checkExtension(openRun(desk), input),
    (desk, input) => {
      const run = openRun(desk);
      run.extend(input);
      // an extended budget is the approval that the run requested
      if (mayContinue(run)) endApproval(run, BUDGET_APPROVAL, { decision: 'approved', by: 'extend' });
      return progressOf(run);
    },
  ),
  approve: handler(
    UPDATES.approve,
    (desk, { callId }) => checkDecision(openRun(desk), 'approve', callId),
    (desk, { callId, by = UNNAMED }) => decide(openRun(desk), callId, { decision: 'approved', by }),
  ),
  deny: handler(
    UPDATES.deny,
    (desk, { callId }) => checkDecision(openRun(desk), 'deny', callId),
    (desk, { callId, by = UNNAMED, reason }) =>
      decide(openRun(desk), callId, { decision: 'denied', by, ...(reason === undefined ? {} : { reason }) }),
  ),
};

/** Sets the updates. Each is checked by its validator, and again when it runs. */
export function registerUpdates(desk: RunDesk): void {
  for (const [name, { validate, handle }] of Object.entries(HANDLERS)) {
    const { description } = UPDATES[name as UpdateName];
    const validator = (given: unknown): void => validate(desk, given);
    setHandler(defineUpdate<unknown, [unknown]>(name), (given) => handle(desk, given), { description, validator });
  }
}

/** A handler that reads its input as the verb's entry says. `check` refuses by throwing. */
function handler<Input extends object, Answer>(
  verb: Verb<Input, Answer>,
  check: (desk: RunDesk, input: Input) => void,
  apply: (desk: RunDesk, input: Input) => Answer,
): UpdateHandler {
  const read = (desk: RunDesk, given: unknown): Input => {
    const { value, fault } = readVerb(verb, given, verb.tolerant ? 'tolerant' : 'strict');
    if (fault) throw inputFailure(`${fault.code}: ${fault.message}`);
    check(desk, value);
    return value;
  };
  return {
    validate: read,
    handle(desk, given) {
      desk.inbox.updates += 1;
      return apply(desk, read(desk, given));
    },
  };
}

function refuseClosed({ run, refused }: RunDesk): void {
  const result = run?.result ?? refused;
  if (result) throw inputFailure(`RUN_CLOSED: the run already ended: ${result.reason}`);
}

/** True when no limit prevents another turn. */
function mayContinue(run: Run): boolean {
  return run.stopReason() === undefined && !run.clock.isOver;
}

/** Who decided, when the sender gave no name. */
const UNNAMED = 'an operator';

function decide(run: Run, callId: string, end: ApprovalEnd): DecidedApproval {
  const decided = endApproval(run, callId, end);
  if (!decided) throw inputFailure(`NO_SUCH_APPROVAL: no call ${JSON.stringify(callId)} waits here`);
  return decided;
}
