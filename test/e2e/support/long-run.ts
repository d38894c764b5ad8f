import { createHash, randomUUID } from 'node:crypto';
import type { WorkflowClient } from '@temporalio/client';
import proto from '@temporalio/proto';
import { z } from 'zod';
import { textOf } from '../../../src/contracts/message-text.js';
import { defineTool } from '../../../src/define/define-tool.js';
import type { ModelAnswer, ModelRequest } from '../../../src/providers/contract/provider.js';
import { type AgentWorkerOptions, call, say } from '../../support/agent-worker.js';

const { HistoryEventFilterType } = proto.temporal.api.enums.v1;

/** Turns of a long run. `PERDURE_LONG_RUN_TURNS=1000` makes it longer, by hand. */
export const LONG_RUN_TURNS = Number(process.env['PERDURE_LONG_RUN_TURNS'] ?? 400);

/** Time for a long run on a busy machine. */
export const LONG_RUN_MS_MAX = LONG_RUN_TURNS * 3_000;

const RESULT_BYTES = 8 * 1_024;

/** Text that does not compress below three quarters, and is known by its number. */
function resultText(n: number): string {
  const bytes = createHash('shake256', { outputLength: (RESULT_BYTES / 4) * 3 })
    .update(String(n))
    .digest('base64');
  return `${n} ${bytes}`.slice(0, RESULT_BYTES);
}

const look = defineTool({
  name: 'look',
  description: 'Answers with 8 KiB.',
  parameters: z.strictObject({ n: z.number() }),
  effect: 'read',
  execute: ({ n }) => resultText(n),
});

/** Calls `look` with the next number. In a run that continues one, it says the number of the last result. */
function model({ messages }: ModelRequest): ModelAnswer {
  const results = messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool_result' ? part.parts : [])));
  const last = results.at(-1);
  const n = last?.type === 'text' ? Number.parseInt(last.text, 10) : 0;
  const asked = messages.findLast(({ role }) => role === 'user');
  if (asked && textOf(asked) === 'Which was the last?') return say(`the last was ${n}`);
  return n < LONG_RUN_TURNS - 1 ? call(['look', { n: n + 1 }]) : say('done');
}

/** A worker whose runs call a tool with a result of 8 KiB in each turn. */
export function longRunOptions(
  contextWindow: number,
): Pick<AgentWorkerOptions, 'model' | 'providerFor' | 'tools' | 'policy' | 'contextWindow'> {
  // requests are not recorded: together they have gigabytes
  return { model, providerFor: () => ({ call: (request) => Promise.resolve(model(request)) }), tools: [look], policy: {}, contextWindow };
}

/** The input of a long run. */
export const LONG_RUN_INPUT = { task: 'Look at everything.', maxTurns: LONG_RUN_TURNS + 5 };

/** An ID for a long run. */
export const longRunId = (): string => `long-${randomUUID()}`;

/** What the histories of a run have together. */
export interface Executions {
  readonly count: number;
  readonly events: number;
  readonly bytes: number;
}

/** Follows a run from its first execution to its last, as a client does that waits for its result. */
export async function executionsOf(client: WorkflowClient, runId: string): Promise<Executions> {
  const { raw } = await client.getHandle(runId).describe();
  let [count, events, bytes] = [0, 0, 0];
  let executionId = raw.workflowExecutionInfo?.firstRunId ?? undefined;
  while (executionId) {
    const handle = client.getHandle(runId, executionId);
    const described = await handle.describe();
    count += 1;
    events += described.historyLength;
    bytes += described.historySize ?? 0;
    const closing = await client.workflowService.getWorkflowExecutionHistory({
      namespace: 'default',
      execution: { workflowId: runId, runId: executionId },
      historyEventFilterType: HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT,
    });
    executionId = closing.history?.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
  }
  return { count, events, bytes };
}
