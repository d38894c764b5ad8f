import { answerFromMemo, recall, remember } from '../policies/tools/memo.js';
import type { Run } from '../state/run.js';
import { answerRemembered, type SettledCall } from './run-tool-call.js';
import type { ToolBatch } from './tool-batch.js';

/**
 * Answers calls of `pure` tools that were answered before: no gate, no person and no activity is asked. Not behind a call of the same
 * batch that may change the world, because its answer may be another one by then.
 */
export function recallCalls(run: Run, batch: ToolBatch): void {
  if (!run.policy.memo) return;
  const { turn } = run.counters;
  const firstChange = batch.calls.findIndex(({ name }) => mayChange(run, name));
  for (const index of batch.open) {
    if (batch.decisions[index] || (firstChange !== -1 && index > firstChange)) continue;
    const call = batch.call(index);
    const of = recall(run.memo, call, run.descriptor(call.name));
    const message = of === undefined ? undefined : answerFromMemo({ call, of, turn }, run.transcript.messages);
    if (of === undefined || !message) continue;
    run.events.add({ type: 'tool.remembered', turn, callId: call.callId, tool: call.name, of });
    batch.settle(index, answerRemembered(run, call, message));
  }
}

/** Notes a call that was started: its answer, or that what was answered before may no longer be true. */
export function noteCall(run: Run, batch: ToolBatch, index: number, { message }: SettledCall): void {
  const call = batch.call(index);
  const tool = run.descriptor(call.name);
  if (!run.policy.memo || !tool) return;
  // a hook that rewrote the arguments has its say each time
  const isRewritten = batch.decisions[index]?.args !== undefined;
  const isError = message.parts.some((part) => part.type === 'tool_result' && part.isError);
  remember(run.memo, { call, tool: { effect: tool.effect, pure: tool.pure && !isRewritten }, isError });
}

function mayChange(run: Run, name: string): boolean {
  const effect = run.descriptor(name)?.effect;
  return effect !== undefined && effect !== 'read';
}
