import { answerFromMemo, recall, remember } from '../policies/tools/memo.js';
import type { Run } from '../state/run.js';
import { answerRemembered } from './run-tool-call.js';
import type { SettledCall } from './settled-call.js';
import type { ToolBatch } from './tool-batch.js';

/**
 * Answers calls of `pure` tools from the memo, without gate, approval and activity. A call after one with side effects in the same batch
 * is not answered, because its result may have changed.
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

/** Updates the memo after a call: stores the result of a `pure` tool, or clears the memo after a side effect. */
export function updateMemo(run: Run, batch: ToolBatch, index: number, { message }: SettledCall): void {
  const call = batch.call(index);
  const tool = run.descriptor(call.name);
  if (!run.policy.memo || !tool) return;
  // a call with arguments that a hook rewrote is checked by the hook each time
  const isRewritten = batch.decisions[index]?.args !== undefined;
  const isError = message.parts.some((part) => part.type === 'tool_result' && part.isError);
  remember(run.memo, { call, tool: { effect: tool.effect, pure: tool.pure && !isRewritten }, isError });
}

function mayChange(run: Run, name: string): boolean {
  const effect = run.descriptor(name)?.effect;
  return effect !== undefined && effect !== 'read';
}
