import { RUN_LIMITS } from '../../contracts/constants/limits.js';
import type { PendingApproval } from '../../contracts/schemas/approval.js';
import type { CallDecision, TurnInProgress } from '../../contracts/schemas/carried-state.js';
import type { PendingQuestion } from '../../contracts/schemas/question.js';
import { type Continuation, isRunnable, waitWhilePaused } from '../operator/pause-and-hold.js';
import { openApprovals, publishPending, waitForDecisions, waitReason } from '../operator/request-approval.js';
import { endApproval } from '../operator/settle-approval.js';
import { describeDecision } from '../operator/validate-decision.js';
import { showDecision } from '../operator/wait.js';
import { groupCalls } from '../policies/tools/call-groups.js';
import type { Run } from '../state/run.js';
import { askQuestions, endOpenQuestions, settleAnswered, waitingQuestions } from './ask-questions.js';
import { checkCall, gateCall, needsCheck } from './gate-call.js';
import { recallCalls, updateMemo } from './memoize.js';
import { answerCall, notStarted, runToolCall } from './run-tool-call.js';
import type { SettledCall } from './settled-call.js';
import { isSleep } from './sleep.js';
import { type BatchEnd, ToolBatch } from './tool-batch.js';

/** How a batch ended. `abort`: a hook ends the run. `continue-as-new`: it is half done, and continues in a fresh history. */
export type BatchOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'continue-as-new'; readonly inProgress: TurnInProgress }
  | Extract<BatchEnd, { kind: 'abort' }>;

const NONE: ReadonlyMap<number, string> = new Map();

/**
 * Runs the calls of one answer and appends their results in call order; every call gets exactly one. All calls are decided first. Allowed
 * calls run next: `read` calls in parallel, any other call alone. Calls that need approval run as they are approved. No call starts
 * during a pause. When the history becomes too long in a pause or a wait, the batch continues in a fresh history. `blocked`: texts that
 * answer calls, by position, instead of running them.
 */
export async function runToolCalls(run: Run, turn: TurnInProgress, blocked: ReadonlyMap<number, string> = NONE): Promise<BatchOutcome> {
  const batch = new ToolBatch(turn, run.input.context?.workspace);
  let gate = await settleCalls(run, batch, blocked);
  // also after a stop: a run does not end while a sub-agent of an earlier history is at work
  if (gate !== 'continue-as-new' && hasStarted(run)) gate = await followStarted(run, batch);
  if (gate === 'continue-as-new') return { kind: gate, inProgress: batch.carry() };
  endOpenApprovals(run, batch);
  endOpenQuestions(run, batch, whyLeft(run, batch));
  for (const index of batch.calls.keys()) appendResult(run, batch, index);
  return batch.end?.kind === 'abort' ? batch.end : { kind: 'done' };
}

async function settleCalls(run: Run, batch: ToolBatch, blocked: ReadonlyMap<number, string>): Promise<Continuation> {
  for (const index of batch.open) {
    const text = blocked.get(index);
    if (text !== undefined) block(run, batch, index, { by: 'loop guard', reason: text, text });
  }
  recallCalls(run, batch);
  const unchecked = gateCalls(run, batch);
  const gate = unchecked.length > 0 ? await checkCalls(run, batch, unchecked) : goUnlessEnded(run, batch);
  if (gate !== 'go') return gate;
  requestApprovals(run, batch);
  for (;;) {
    settleDenied(run, batch);
    const mayStart = batch.open.filter((index) => mayRun(run, batch, index));
    const ready = askQuestions(run, batch, mayStart);
    settleAnswered(run, batch);
    const waiting = batch.open.flatMap((index) => run.approvals.pending(batch.call(index).callId) ?? []);
    const asked = waitingQuestions(run, batch);
    if (ready.length === 0 && waiting.length === 0 && asked.length === 0) return 'go';
    const isOver = (): boolean => isPreempted(run) || isDecided(run, waiting, asked);
    const next =
      ready.length > 0 ? await runGroups(run, batch, ready) : await waitForDecisions(run, { reason: waitReason(waiting, asked), isOver });
    if (next !== 'go') return next;
    if (isEnded(run, batch)) return 'stop';
  }
}

/** True when one of these needs no person any more. */
function isDecided({ approvals, questions }: Run, waiting: readonly PendingApproval[], asked: readonly PendingQuestion[]): boolean {
  return waiting.some(({ callId }) => !approvals.pending(callId)) || asked.some(({ callId }) => !questions.pending(callId));
}

/** A call that the config's gate, hooks or approval function must check, with the decision of the run's own gate. */
interface UncheckedCall {
  readonly index: number;
  readonly gate: CallDecision;
}

/** Decides every undecided call by the run's own gate, and returns those that need a check too. A blocked call gets its result. */
function gateCalls(run: Run, batch: ToolBatch): UncheckedCall[] {
  const unchecked: UncheckedCall[] = [];
  for (const index of batch.open.filter((open) => !batch.decisions[open])) {
    const gate = isTooMany(run, index) ? TOO_MANY : gateCall(run, batch.call(index));
    if (needsCheck(run, batch.call(index), gate)) unchecked.push({ index, gate });
    else keepDecision(run, batch, index, gate);
  }
  return unchecked;
}

function checkCalls(run: Run, batch: ToolBatch, unchecked: readonly UncheckedCall[]): Promise<Continuation> {
  return startEach(run, batch, unchecked, async ({ index, gate }) => {
    const decision = await checkCall(run, batch.call(index), gate);
    if (decision) keepDecision(run, batch, index, decision);
  });
}

/** True for calls beyond the maximum of one answer. */
function isTooMany(run: Run, index: number): boolean {
  return run.isGuarded && index >= RUN_LIMITS.callsPerAnswerMax;
}

const TOO_MANY: CallDecision = {
  decision: 'block',
  by: 'the run',
  reason: `one answer runs at most ${RUN_LIMITS.callsPerAnswerMax} calls; make this one in a later answer`,
};

function keepDecision(run: Run, batch: ToolBatch, index: number, decision: CallDecision): void {
  const { by, reason = 'no reason was given' } = decision;
  batch.decisions[index] = decision;
  if (decision.decision === 'block') block(run, batch, index, { by, reason, text: `blocked by ${by}: ${reason}` });
  if (decision.decision === 'abort') batch.end ??= { kind: 'abort', by, reason };
}

function block(run: Run, batch: ToolBatch, index: number, { by, reason, text }: { by: string; reason: string; text: string }): void {
  const call = batch.call(index);
  const { turn } = run.counters;
  run.events.add({ type: 'tool.blocked', turn, callId: call.callId, tool: call.name, by, reason });
  showDecision(run, `turn ${turn}: ${call.name} blocked by ${by}: ${reason}`);
  batch.settle(index, answerCall(run, call, text));
}

/** Requests the approvals of the batch, each once: one that is pending or decided from an earlier history is not requested again. */
function requestApprovals(run: Run, batch: ToolBatch): void {
  const { approvals } = run;
  const unasked = batch.open.filter((index) => {
    const { callId } = batch.call(index);
    return batch.decisions[index]?.decision === 'ask' && !approvals.pending(callId) && !approvals.decided(callId);
  });
  if (unasked.length === 0) return;
  const approvalOf = (index: number) => batch.approval(index, { turn: run.counters.turn, expireMs: run.policy.approvalExpireMs });
  openApprovals(run, unasked.map(approvalOf));
}

/** True for a call that needs no approval, or that was approved with exactly these arguments. */
function mayRun({ approvals }: Run, batch: ToolBatch, index: number): boolean {
  if (batch.decisions[index]?.decision !== 'ask') return true;
  const decided = approvals.decided(batch.call(index).callId);
  return decided?.decision === 'approved' && decided.hash === batch.hash(index);
}

/** Answers the calls that were denied, whose approval expired, or whose arguments differ from the approved ones. */
function settleDenied(run: Run, batch: ToolBatch): void {
  for (const index of batch.open) {
    const call = batch.call(index);
    const decided = run.approvals.decided(call.callId);
    if (batch.decisions[index]?.decision !== 'ask' || !decided || mayRun(run, batch, index)) continue;
    const refusal = decided.decision === 'approved' ? 'denied: the approval was for other arguments' : describeDecision(decided);
    batch.settle(index, answerCall(run, call, decided.reason === undefined ? refusal : `${refusal}: ${decided.reason}`));
  }
}

/** Starts calls in order, neighbouring `read` calls in parallel. */
async function runGroups(run: Run, batch: ToolBatch, ready: readonly number[]): Promise<Continuation> {
  // what comes after a sleep waits for it
  const groups = groupCalls(batch.calls, (name) => (isSleep(run, { name }) ? 'once' : run.descriptor(name)?.effect));
  let isLeft = false;
  for (const group of groups) {
    const indexes = group.indexes.filter((index) => ready.includes(index));
    const gate = await startEach(run, batch, indexes, async (index) => {
      const settled = await runToolCall(run, batch.effective(index), index);
      if (settled === 'continue-as-new') {
        isLeft = true;
        return;
      }
      batch.settle(index, settled);
      updateMemo(run, batch, index, settled);
      if (settled.abort !== undefined) batch.end ??= { kind: 'abort', by: 'hook', reason: settled.abort };
    });
    if (isLeft) return 'continue-as-new';
    if (gate !== 'go') return gate;
  }
  return 'go';
}

/** True if calls that an earlier history started may be open: sub-agents are at work, or the run sleeps. */
function hasStarted({ subagents, waits }: Run): boolean {
  return subagents.live.length > 0 || waits.sleeps.size > 0;
}

/** Follows the sub-agents and sleeps of open calls that nothing else follows: a stop or a message came first in this history. */
async function followStarted(run: Run, batch: ToolBatch): Promise<Continuation> {
  const open = batch.open.filter((index) => {
    const { callId } = batch.call(index);
    return run.subagents.ofCall(callId) ?? run.waits.sleeps.has(callId);
  });
  const left = await Promise.all(
    open.map(async (index) => {
      const settled = await runToolCall(run, batch.effective(index), index);
      if (settled !== 'continue-as-new') batch.settle(index, settled);
      return settled === 'continue-as-new';
    }),
  );
  return left.includes(true) ? 'continue-as-new' : 'stop';
}

/** Starts items in order, several in parallel, until a pause or a stop. Waits for the started ones, and returns how the batch proceeds. */
async function startEach<T>(run: Run, batch: ToolBatch, items: readonly T[], start: (item: T) => Promise<void>): Promise<Continuation> {
  const [first, ...others] = items;
  if (first === undefined) return goUnlessEnded(run, batch);
  if (others.length === 0 && isRunnable(run)) {
    // most answers have one call, which needs no queue
    if (!isEnded(run, batch)) await start(first);
    return goUnlessEnded(run, batch);
  }
  const queue = [...items];
  let closed: Continuation = 'go';
  const runner = async (): Promise<void> => {
    while (queue.length > 0) {
      const gate = await waitWhilePaused(run);
      const mayStart = gate === 'go' && !isEnded(run, batch);
      if (!mayStart) closed = gate === 'go' ? 'stop' : gate;
      const item = mayStart ? queue.shift() : undefined;
      if (item === undefined) return;
      await start(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(items.length, run.policy.readToolsParallelMax) }, runner));
  // an end is not carried over: the rest of the batch is answered in this history
  return isEnded(run, batch) ? 'stop' : closed;
}

function goUnlessEnded(run: Run, batch: ToolBatch): Continuation {
  return isEnded(run, batch) ? 'stop' : 'go';
}

/** True when no further call of the batch may start, although the run itself continues or has yet to end. */
function isEnded(run: Run, batch: ToolBatch): boolean {
  if (!batch.end && isPreempted(run)) batch.end = { kind: 'preempted' };
  return batch.end !== undefined;
}

/** Cancels the pending approvals of calls that will not run. */
function endOpenApprovals(run: Run, batch: ToolBatch): void {
  for (const index of batch.open) {
    endApproval(run, batch.call(index).callId, { decision: 'cancelled', by: 'the run', reason: whyLeft(run, batch) });
  }
  publishPending(run);
}

function appendResult(run: Run, batch: ToolBatch, index: number): void {
  const call = batch.settled(index) ?? unstarted(run, batch, index);
  if (call.returned) run.transcript.appendReturned(call.message, call.hash);
  else run.transcript.append(call.message);
}

function unstarted(run: Run, batch: ToolBatch, index: number): SettledCall {
  const call = batch.call(index);
  if (batch.end?.kind === 'preempted' && !run.mustStop) return answerCall(run, call, '[skipped] a new message came; not run', 'cancelled');
  return notStarted(run, call, whyLeft(run, batch));
}

function whyLeft(run: Run, { end }: ToolBatch): string {
  if (run.inbox.cancelRequest) return 'cancelled';
  if (run.deadlineReached) return 'deadline reached';
  return end?.kind === 'abort' ? `ended by ${end.by}` : 'a new message came';
}

/** True when a queued message skips the calls that were not started. Running calls continue: a message cancels no tool call. */
function isPreempted({ inbox }: Run): boolean {
  return inbox.preempting;
}
