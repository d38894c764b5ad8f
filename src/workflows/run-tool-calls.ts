import type { TurnInProgress } from '../contracts/carried-state.js';
import { RUN_LIMITS } from '../contracts/limits.js';
import type { ToolCallPart } from '../contracts/message.js';
import { type GoOn, mayGoOn } from './may-go-on.js';
import { groupCalls } from './policies/call-groups.js';
import type { Run } from './run.js';
import { notStarted, runToolCall, type SettledCall } from './run-tool-call.js';

/**
 * Runs the calls of one answer and appends their results in call order. `read` calls run up to four at once, any other alone.
 * A pause starts no further call; a long pause gives the batch back half done, to go on in a fresh history.
 */
export async function runToolCalls(run: Run, batch: TurnInProgress): Promise<'done' | 'continue-as-new'> {
  const settled: (SettledCall | undefined)[] = batch.results.map((result) => (result ? { ...result, returned: true } : undefined));
  const groups = groupCalls(batch.calls, (name) => run.descriptor(name)?.effect);
  for (const group of groups) {
    const open = group.indexes.filter((index) => !settled[index]);
    const gate = await runGroup(run, batch.calls, open, settled);
    if (gate === 'continue-as-new') {
      run.turnInProgress = {
        ...batch,
        results: settled.map((call) => (call ? { message: call.message, hash: call.hash } : null)),
      };
      return gate;
    }
  }
  for (const [index, call] of batch.calls.entries()) appendResult(run, settled[index] ?? notStarted(run, call));
  return 'done';
}

/** Up to four calls at once; a group of one is a call alone. Says how the gate stood when it closed. */
async function runGroup(run: Run, calls: readonly ToolCallPart[], open: number[], settled: (SettledCall | undefined)[]): Promise<GoOn> {
  const queue = [...open];
  let closed: GoOn = 'go';
  const runner = async (): Promise<void> => {
    while (queue.length > 0) {
      const gate = await mayGoOn(run);
      if (gate !== 'go') closed = gate;
      const index = gate === 'go' ? queue.shift() : undefined;
      const call = index === undefined ? undefined : calls[index];
      if (index === undefined || call === undefined) return;
      settled[index] = await runToolCall(run, call, index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(open.length, RUN_LIMITS.readToolsParallelMax) }, runner));
  return closed;
}

function appendResult(run: Run, call: SettledCall): void {
  if (call.returned) run.transcript.appendReturned(call.message, call.hash);
  else run.transcript.append(call.message);
}
