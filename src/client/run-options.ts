import type { WorkflowExecutionDescription, WorkflowHandle } from '@temporalio/client';
import { RunInput } from '../contracts/schemas/run.js';
import { RunMemo } from './run-memo.js';
import type { TemporalAccess } from './temporal/connection.js';

/** A run's input without its task and messages. */
export type RunOptions = RunMemo['options'];

/** What a run was started with: from its memo, or from its first event when another client started it. Empty when neither can be read. */
export async function readRunOptions(
  access: TemporalAccess,
  handle: WorkflowHandle,
  described: WorkflowExecutionDescription,
): Promise<RunOptions> {
  const memo = RunMemo.safeParse(described.memo);
  if (memo.success) return memo.data.options;
  const parsed = RunInput.safeParse(await readInput(access, handle.workflowId));
  if (!parsed.success) return {};
  const { task: _task, messages: _messages, ...options } = parsed.data;
  return options;
}

async function readInput(access: TemporalAccess, workflowId: string): Promise<unknown> {
  const page = await access.ask(
    () =>
      access.connection.workflowService.getWorkflowExecutionHistory({
        namespace: access.namespace,
        execution: { workflowId },
        maximumPageSize: 1,
      }),
    workflowId,
  );
  const payload = page.history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
  if (!payload) return undefined;
  const { payloadConverter, payloadCodecs } = access.client.options.loadedDataConverter;
  let decoded = payload;
  for (const codec of payloadCodecs.toReversed()) [decoded = decoded] = await codec.decode([decoded]);
  return payloadConverter.fromPayload(decoded);
}
