import type { TurnInProgress } from '../../contracts/schemas/carried-state.js';
import type { Message, ToolCallPart } from '../../contracts/schemas/message.js';
import type { Effect } from '../../contracts/schemas/tool.js';
import { showDecision } from '../operator/wait.js';
import { recordWork } from '../policies/answer/work-record.js';
import { turnSignature } from '../policies/loop/call-signature.js';
import type { GuardedTurn, Objection } from '../policies/loop/guard.js';
import type { Run } from '../state/run.js';
import type { Ending } from '../state/run-result.js';
import { nudge } from '../turn/corrections.js';
import { isDelegated } from './delegate.js';
import { isHandoff } from './handoff.js';
import { runToolCalls } from './run-tool-calls.js';
import { notRunResults } from './tool-results.js';

/**
 * Runs the tool calls of one answer, or the rest of an unfinished turn. Every call gets exactly one result before the next request. The
 * guards judge the calls first: they may nudge, block, or end the run. Returns the ending, if the run ends. Only this file writes
 * `turnInProgress`.
 */
export async function guardToolCalls(run: Run, inProgress: TurnInProgress): Promise<Ending | undefined> {
  const { calls } = inProgress;
  run.turnInProgress = inProgress;
  run.phase = 'tools';
  run.steps.update({ toolSignature: signatureShown(calls) });
  // after a continue-as-new the calls are judged again: with the same memory and calls the verdict is the same
  const objection = run.guards.judge(guardedTurn(run, calls));
  if (objection?.kind === 'stop') return stopRun(run, calls, objection);
  run.subagents.expectCalls(calls.filter((call) => isDelegated(run, call) && !run.subagents.ofCall(call.callId)).length);
  const outcome = await runToolCalls(run, inProgress, blockedBy(objection));
  run.turnInProgress = outcome.kind === 'continue-as-new' ? outcome.inProgress : undefined;
  if (outcome.kind === 'continue-as-new') return { kind: 'continue-as-new' };
  remember(run, calls, objection);
  if (outcome.kind === 'done') return undefined;
  return { kind: 'end', reason: 'error', error: { type: 'Hook.Aborted', message: outcome.reason, turn: run.counters.turn } };
}

/** A turn in progress whose calls have not started. */
export function newTurn(calls: readonly ToolCallPart[]): TurnInProgress {
  return { calls: [...calls], results: calls.map(() => null), decisions: [] };
}

function guardedTurn(run: Run, calls: readonly ToolCallPart[]): GuardedTurn {
  return {
    turn: run.counters.turn,
    calls,
    policy: run.policy,
    work: run.work,
    get task() {
      return run.transcript.since(run.taskId)[0];
    },
  };
}

function blockedBy(objection: Objection | undefined): ReadonlyMap<number, string> {
  return new Map(objection?.indexes?.map((index) => [index, objection.text]));
}

function remember(run: Run, calls: readonly ToolCallPart[], objection: Objection | undefined): void {
  const results = run.transcript.messages.slice(-calls.length);
  recordTurnWork(run, calls, results);
  const given = run.guards.remember(Object.assign(guardedTurn(run, calls), { results }), objection !== undefined) ?? objection;
  run.isRepeating = objection !== undefined;
  if (objection) announce(run, objection);
  if (given?.kind !== 'nudge') return;
  nudge(run, given.text);
  if (given !== objection) announce(run, given);
}

/** Ends the run: each call gets a failed result with the reason, and the reserved final call reports the findings. */
function stopRun(run: Run, calls: readonly ToolCallPart[], objection: Objection): Ending {
  const { turn } = run.counters;
  for (const message of notRunResults(calls, turn, objection.text)) run.transcript.append(message);
  run.turnInProgress = undefined;
  announce(run, objection);
  return objection.error ? { kind: 'end', reason: 'error', error: { ...objection.error, turn } } : { kind: 'end', reason: 'loop_detected' };
}

function announce(run: Run, { event, decision }: Objection): void {
  run.events.add(event);
  showDecision(run, decision);
}

/** A readable signature: the tool names, then 8 hex digits of the hash over the arguments. */
function signatureShown(calls: readonly ToolCallPart[]): string {
  return `${calls.map(({ name }) => name).join('+')}#${turnSignature(calls).slice(0, 8)}`.slice(0, 200);
}

/** Records the work of a turn's calls for the completion checks. A run without such checks records nothing. */
export function recordTurnWork(run: Run, calls: readonly ToolCallPart[], results: readonly Message[]): void {
  const { completion: policy } = run.policy;
  if (policy.checks.length === 0) return;
  run.work = recordWork(run.work, { calls, results }, { policy, effectOf: (tool) => effectOf(run, tool) });
}

/** The effect of a tool, for the record of work. Another agent may write, so a turn that delegates or hands over is no turn of reading. */
function effectOf(run: Run, name: string): Effect | undefined {
  return isDelegated(run, { name }) || isHandoff(run, { name }) ? 'once' : run.descriptor(name)?.effect;
}
