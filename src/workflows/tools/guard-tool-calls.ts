import type { Message, ToolCallPart } from '../../contracts/schemas/message.js';
import { showDecision } from '../operator/wait.js';
import { recordWork } from '../policies/answer/work-record.js';
import { turnSignature } from '../policies/loop/call-signature.js';
import { judgeLoop, type LoopVerdict, rememberTurn } from '../policies/loop/loop-guard.js';
import { readingNudge } from '../policies/loop/reading-nudge.js';
import type { Run } from '../state/run.js';
import type { Ending } from '../state/run-result.js';
import { nudge } from '../turn/corrections.js';
import { runToolCalls } from './run-tool-calls.js';
import { notRunResults } from './tool-results.js';

/**
 * Runs the present batch of tool calls, or what is left of it; every call has exactly one result before the next request. The loop
 * guard is asked first: a repetition is nudged, then blocked, then ends the run. Returns how the run ends, if it does.
 */
export async function runBatch(run: Run): Promise<Ending | undefined> {
  const batch = run.turnInProgress;
  if (!batch) return undefined;
  run.phase = 'tools';
  run.steps.note({ toolSignature: signatureShown(batch.calls) });
  // asked again after a continue-as-new: memory and calls are the same, and so is the verdict
  const loop = judgeLoop(run.loop, batch.calls, run.policy.loop);
  if (loop.kind === 'stop') return stopLoop(run, batch.calls, loop);
  const outcome = await runToolCalls(run, batch, blockedBy(loop));
  if (outcome === 'continue-as-new') return { kind: 'continue-as-new' };
  run.turnInProgress = undefined;
  remember(run, batch.calls, loop);
  if (outcome === 'done') return undefined;
  return { kind: 'end', reason: 'error', error: { type: 'Hook.Aborted', message: outcome.reason, turn: run.counters.turn } };
}

function blockedBy(loop: LoopVerdict): ReadonlyMap<number, string> {
  return loop.kind === 'block' ? new Map(loop.indexes.map((index) => [index, loop.text])) : new Map();
}

function remember(run: Run, calls: readonly ToolCallPart[], loop: LoopVerdict): void {
  const results = run.transcript.messages.slice(-calls.length);
  run.loop = rememberTurn(run.loop, calls, results);
  noteWork(run, calls, results);
  run.isRepeating = loop.kind !== 'go';
  if (loop.kind === 'go') return nudgeReader(run);
  announce(run, loop);
  if (loop.kind === 'nudge') nudge(run, loop.text);
}

/** A run whose end needs an edit is told when it only reads. */
function nudgeReader(run: Run): void {
  // nothing is kept of a run whose end nobody looks at
  if (run.work.calls === 0) return;
  const [task] = run.ownMessages;
  const reading = readingNudge(run.policy.completion, { work: run.work, task });
  if (!reading) return;
  run.work = { ...run.work, told: reading.told };
  nudge(run, reading.text);
  run.events.add({ type: 'notice', text: `turn ${run.counters.turn}: ${reading.what}` });
  showDecision(run, `turn ${run.counters.turn}: nudged (${reading.what})`);
}

/** None of the calls ran: each has a result that says so, and the reserved final call tells what was found. */
function stopLoop(run: Run, calls: readonly ToolCallPart[], loop: Extract<LoopVerdict, { kind: 'stop' }>): Ending {
  const { turn } = run.counters;
  for (const message of notRunResults(calls, turn, loop.text)) run.transcript.append(message);
  run.turnInProgress = undefined;
  announce(run, loop);
  if (run.policy.loop.onLoop !== 'error') return { kind: 'end', reason: 'loop_detected' };
  return { kind: 'end', reason: 'error', error: { type: 'Run.LoopDetected', message: `${loop.pattern}, ${loop.count} times`, turn } };
}

function announce(run: Run, loop: Exclude<LoopVerdict, { kind: 'go' }>): void {
  const { turn } = run.counters;
  run.events.add({ type: 'loop.detected', turn, pattern: loop.pattern, count: loop.count, action: loop.kind });
  showDecision(run, `turn ${turn}: ${loop.pattern}, ${loop.count} times: ${loop.kind}`);
}

/** Names the calls, so that people can read it, and ends with what tells equal arguments apart. */
function signatureShown(calls: readonly ToolCallPart[]): string {
  return `${calls.map(({ name }) => name).join('+')}#${turnSignature(calls).slice(0, 8)}`.slice(0, 200);
}

/** Keeps in mind what the answered calls of a turn did, for the looks at the end; a run without such looks keeps nothing. */
export function noteWork(run: Run, calls: readonly ToolCallPart[], results: readonly Message[]): void {
  const { completion: policy } = run.policy;
  if (policy.checks.length === 0) return;
  run.work = recordWork(run.work, { calls, results }, { policy, effectOf: (tool) => run.descriptor(tool)?.effect });
}
