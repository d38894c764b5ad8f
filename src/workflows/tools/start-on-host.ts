import type { CallToolInput } from '../../contracts/activities.js';
import { TOOL_LIMITS, WORKER_LIMITS } from '../../contracts/constants/limits.js';
import type { ToolCallPart } from '../../contracts/schemas/message.js';
import type { ToolDescriptor } from '../../contracts/schemas/tool.js';
import { whileWaiting } from '../operator/wait.js';
import type { Run } from '../state/run.js';
import { type ActivityProblem, readActivityProblem } from '../temporal/failures.js';
import type { ToolPlacement } from '../temporal/proxies.js';

/** A call of a known tool that has no result yet. */
export interface OpenCall {
  readonly call: ToolCallPart;
  readonly tool: ToolDescriptor;
  readonly title: string;
  readonly input: CallToolInput;
}

/** The end of an activity. */
export type Attempted<T> =
  | { readonly result: T; readonly problem?: never }
  | { readonly result?: never; readonly problem: ActivityProblem };

/**
 * Starts a call on the tool's queue. When no worker polls it for a minute, the run shows the wait and starts again without a time limit.
 */
export async function startOnHost<T>(
  run: Run,
  tool: ToolDescriptor,
  start: (placement: ToolPlacement) => Promise<T>,
): Promise<Attempted<T>> {
  const placement = placementFor(run, tool);
  const first = await attempt(run, () => start(placement));
  if (!first.problem?.notPolled || placement.queue === undefined || run.mustStop) return first;
  const { queueWaitMs: _, ...lasting } = placement;
  return await whileWaiting(run, 'worker with workspace', () => attempt(run, () => start(lasting)));
}

/** Runs an activity that a stop of the run aborts. Never throws for a failed activity. */
export async function attempt<T>(run: Run, start: () => Promise<T>): Promise<Attempted<T>> {
  try {
    return { result: await run.calls.abortable(start) };
  } catch (error) {
    return { problem: readActivityProblem(error) };
  }
}

/** Where a call of a tool runs: a workspace tool on the queue of its host, a short `read` tool in the workflow task if the agent says so. */
export function placementFor(run: Run, tool: ToolDescriptor): ToolPlacement {
  const { toolQueue } = run.prepared;
  if (tool.workspace && toolQueue !== undefined) return { queue: toolQueue, queueWaitMs: WORKER_LIMITS.toolQueueWaitMs };
  return run.policy.localReadTools && runsLocally(tool) ? { local: true } : {};
}

/** True for calls that may run in the workflow task: they may repeat after a crash, and end soon. */
function runsLocally({ effect, timeoutMs, asks, samples }: ToolDescriptor): boolean {
  return !asks && !samples && effect === 'read' && timeoutMs <= TOOL_LIMITS.localTimeoutMsMax;
}
