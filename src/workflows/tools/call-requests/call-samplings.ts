import { condition } from '@temporalio/workflow';
import type { ToolCallPart } from '../../../contracts/schemas/message.js';
import type { SamplingBounds, SamplingRequest } from '../../../contracts/schemas/sampling.js';
import type { Run } from '../../state/run.js';
import { sampleModel } from './sample-model.js';

/**
 * Answers the completions that a call requests while it works, one after the other. They outlive a lost worker of the call: an attempt that
 * requests the same again finds the answer. A stop of the run, a message with mode `preempt` or `interrupt`, and the end of the call end them.
 * Resolves and rejects as `work` does.
 */
export async function withSamplings<T>(
  run: Run,
  { callId }: Pick<ToolCallPart, 'callId'>,
  { bounds, work }: { readonly bounds: SamplingBounds; readonly work: () => Promise<T> },
): Promise<T> {
  const { samplings } = run;
  let isDone = false;
  samplings.listenTo(callId, bounds);
  const ended = work().finally(() => {
    isDone = true;
  });
  // it is awaited below, after the completions
  ended.catch(() => undefined);
  for (;;) {
    await condition(() => isDone || samplings.next(callId) !== undefined);
    const request = samplings.next(callId);
    if (request) await answer(run, { callId, request, isDone: () => isDone });
    if (!isDone) continue;
    samplings.stopListening(callId);
    return await ended;
  }
}

/** A request of a call at work. */
interface OpenRequest {
  readonly callId: string;
  readonly request: SamplingRequest;
  readonly isDone: () => boolean;
}

async function answer(run: Run, { callId, request, isDone }: OpenRequest): Promise<void> {
  const { samplings, inbox } = run;
  const { turn } = run.counters;
  const { id, server } = request;
  const isOver = (): boolean => isDone() || run.mustStop || inbox.preempting || !samplings.isOpen(callId, id);
  const { end, spent } = await sampleModel(run, request, isOver);
  samplings.end(id, end);
  const how = end.outcome === 'answered' ? { model: end.model } : { reason: end.reason.slice(0, REASON_CHARS) };
  run.events.add({ type: 'mcp.sampled', turn, callId, server, outcome: end.outcome, ...how, ...spent });
}

/** Characters of a reason in an event. */
const REASON_CHARS = 500;
