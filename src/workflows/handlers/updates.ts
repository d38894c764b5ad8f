import { currentUpdateInfo, defineUpdate, setHandler, workflowInfo } from '@temporalio/workflow';
import { hashJson } from '../../contracts/digest.js';
import type { DecidedApproval } from '../../contracts/schemas/approval.js';
import type { AnsweredQuestion } from '../../contracts/schemas/question.js';
import type { SignedVerb } from '../../contracts/signature.js';
import { ASK_TOOL, BUDGET_APPROVAL } from '../../contracts/text/ids.js';
import { UPDATES, type UpdateName } from '../../contracts/verbs/index.js';
import { readVerb, type Verb } from '../../contracts/verbs/verb.js';
import { progressOf } from '../operator/progress.js';
import { type ApprovalEnd, endApproval } from '../operator/settle-approval.js';
import { endQuestion } from '../operator/settle-question.js';
import { checkAnswer, checkQuestion } from '../operator/validate-answer.js';
import { checkDecision } from '../operator/validate-decision.js';
import { checkExtension } from '../operator/validate-extension.js';
import type { Run } from '../state/run.js';
import { inputFailure } from '../temporal/failures.js';
import { checkSignature } from '../temporal/proxies.js';
import { type HandlerContext, preparedRun } from './handler-context.js';

/** Handles one update. Contract: `validate` does not await; both throw `Input.Invalid` for input that the run rejects. */
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
  extend: signed(
    UPDATES.extend,
    'extend',
    (context, input) => checkExtension(preparedRun(context), input),
    (context, input) => {
      const run = preparedRun(context);
      run.extend(input);
      // extending the limits decides the pending budget approval
      if (mayContinue(run)) endApproval(run, BUDGET_APPROVAL, { decision: 'approved', by: 'extend' });
      return progressOf(run);
    },
  ),
  approve: signed(
    UPDATES.approve,
    'approve',
    (context, { callId }) => checkDecision(preparedRun(context), 'approve', callId),
    (context, { callId, by = UNNAMED }) => decide(preparedRun(context), callId, { decision: 'approved', by }),
  ),
  answer: signed(
    UPDATES.answer,
    'answer',
    (context, input) => checkAnswer(preparedRun(context), input),
    (context, { by = UNNAMED, ...input }): AnsweredQuestion => {
      const run = preparedRun(context);
      const answer = checkAnswer(run, input);
      return ended(endQuestion(run, input.callId, { outcome: 'answered', by, answer }), input.callId);
    },
  ),
  deny: handler(
    UPDATES.deny,
    (context, { callId }) => {
      const run = preparedRun(context);
      if (isQuestion(run, callId)) checkQuestion(run, callId);
      else checkDecision(run, 'deny', callId);
    },
    (context, { callId, by = UNNAMED, reason }) => {
      const run = preparedRun(context);
      const given = reason === undefined ? {} : { reason };
      return isQuestion(run, callId) ? decline(run, callId, { by, ...given }) : decide(run, callId, { decision: 'denied', by, ...given });
    },
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

/**
 * A handler of an update that only the owner of an embedded server may send. Its field `auth` is no part of the verb. The check is an
 * activity, because only workers have the key: meanwhile the run goes on, so that the input is checked again.
 */
function signed<Input extends object, Answer>(
  verb: Verb<Input, Answer>,
  name: SignedVerb,
  ...parts: [check: (context: HandlerContext, input: Input) => void, apply: (context: HandlerContext, input: Input) => Answer]
): UpdateHandler {
  const plain = handler(verb, ...parts);
  return {
    validate: (context, given) => plain.validate(context, withoutAuth(given).input),
    handle(context, given) {
      const { input, auth } = withoutAuth(given);
      if (!preparedRun(context).prepared.signed) return plain.handle(context, input);
      plain.validate(context, input);
      const { workflowId: runId } = workflowInfo();
      const use = `${name} ${runId} ${currentUpdateInfo()?.id}`;
      // an input that is valid is an object
      return checkSignature({ verb: name, runId, input: input as object, auth, use }).then(({ problem }) => {
        if (problem !== undefined) throw inputFailure(problem);
        return plain.handle(context, input);
      });
    },
  };
}

/** Splits the signature from an input, whatever it is. */
function withoutAuth(given: unknown): { readonly input: unknown; readonly auth?: unknown } {
  if (typeof given !== 'object' || given === null || !Object.hasOwn(given, 'auth')) return { input: given };
  const { auth, ...input } = given as { readonly auth?: unknown };
  return { input, auth };
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

/** True if what waits, or what ended last, under this id is a question. A call may need an approval before it asks. */
function isQuestion({ approvals, questions }: Run, callId: string): boolean {
  return !approvals.pending(callId) && (questions.pending(callId) ?? questions.answered(callId)) !== undefined;
}

/** Declines a question, with the answer that a denied call has. */
function decline(run: Run, callId: string, { by, reason }: { readonly by: string; readonly reason?: string }): DecidedApproval {
  const given = reason === undefined ? {} : { reason };
  const { at } = ended(endQuestion(run, callId, { outcome: 'declined', by, ...given }), callId);
  return { callId, tool: ASK_TOOL, hash: hashJson({ callId }), decision: 'denied', by, at, ...given };
}

function ended(question: AnsweredQuestion | undefined, callId: string): AnsweredQuestion {
  if (!question) throw inputFailure(`NO_SUCH_QUESTION: no question ${JSON.stringify(callId)} is pending.`);
  return question;
}

function decide(run: Run, callId: string, end: ApprovalEnd): DecidedApproval {
  const decided = endApproval(run, callId, end);
  if (!decided)
    throw inputFailure(
      `NO_SUCH_APPROVAL: call ${JSON.stringify(callId)} has no pending approval. Query 'approvals' lists the pending ones.`,
    );
  return decided;
}
