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
import { type HandlerContext, preparedRun } from './handler-context.js';

/** Handles one update. Contract: neither function awaits; both throw `Input.Invalid` for input that the run rejects. */
interface UpdateHandler {
  readonly validate: (context: HandlerContext, given: unknown) => void;
  readonly handle: (context: HandlerContext, given: unknown) => unknown;
}

const submit = handler(UPDATES.submit, refuseClosed, (context, message) => {
  const receipt = context.inbox.enqueue(message);
  if (receipt.accepted && !receipt.duplicate) context.events.add({ type: 'steer.accepted', id: receipt.id, position: receipt.position });
  return receipt;
});

const HANDLERS: Readonly<Record<UpdateName, UpdateHandler>> = {
  submit: {
    ...submit,
    // only the validator refuses a message for a full inbox: what it accepted stays accepted when the history is replayed
    validate(context, given) {
      submit.validate(context, given);
      const refusal = context.inbox.refusalOf(readVerb(UPDATES.submit, given, 'tolerant').value);
      if (refusal !== undefined) throw inputFailure(refusal);
    },
  },
  extend: handler(
    UPDATES.extend,
    (context, input) => checkExtension(preparedRun(context), input),
    (context, input) => {
      const run = preparedRun(context);
      run.extend(input);
      // extending the limits decides the pending budget approval
      if (mayContinue(run)) endApproval(run, BUDGET_APPROVAL, { decision: 'approved', by: 'extend' });
      return progressOf(run);
    },
  ),
  approve: handler(
    UPDATES.approve,
    (context, { callId }) => checkDecision(preparedRun(context), 'approve', callId),
    (context, { callId, by = UNNAMED }) => decide(preparedRun(context), callId, { decision: 'approved', by }),
  ),
  deny: handler(
    UPDATES.deny,
    (context, { callId }) => checkDecision(preparedRun(context), 'deny', callId),
    (context, { callId, by = UNNAMED, reason }) =>
      decide(preparedRun(context), callId, { decision: 'denied', by, ...(reason === undefined ? {} : { reason }) }),
  ),
};

/** Registers the updates. Each input is validated twice: by the validator, and when the update runs, because the state may have changed. */
export function registerUpdates(context: HandlerContext): void {
  for (const [name, { validate, handle }] of Object.entries(HANDLERS)) {
    const { description } = UPDATES[name as UpdateName];
    const validator = (given: unknown): void => validate(context, given);
    setHandler(defineUpdate<unknown, [unknown]>(name), (given) => handle(context, given), { description, validator });
  }
}

/** A handler that parses its input with the verb's schema. `check` throws to reject it. */
function handler<Input extends object, Answer>(
  verb: Verb<Input, Answer>,
  check: (context: HandlerContext, input: Input) => void,
  apply: (context: HandlerContext, input: Input) => Answer,
): UpdateHandler {
  const read = (context: HandlerContext, given: unknown): Input => {
    const { value, fault } = readVerb(verb, given, verb.tolerant ? 'tolerant' : 'strict');
    if (fault) throw inputFailure(`${fault.code}: ${fault.message}`);
    check(context, value);
    return value;
  };
  return {
    validate: read,
    handle(context, given) {
      context.inbox.updates += 1;
      return apply(context, read(context, given));
    },
  };
}

function refuseClosed({ run, refused }: HandlerContext): void {
  const result = run?.result ?? refused;
  if (result) throw inputFailure(`RUN_CLOSED: the run already ended: ${result.reason}`);
}

/** True when no limit prevents another turn. */
function mayContinue(run: Run): boolean {
  return run.stopReason() === undefined && !run.clock.isOver;
}

/** The name in a decision whose sender gave none. */
const UNNAMED = 'an operator';

function decide(run: Run, callId: string, end: ApprovalEnd): DecidedApproval {
  const decided = endApproval(run, callId, end);
  if (!decided)
    throw inputFailure(
      `NO_SUCH_APPROVAL: call ${JSON.stringify(callId)} has no pending approval. Query 'approvals' lists the pending ones.`,
    );
  return decided;
}
