import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { RunHandle } from '../../../client/run-handle.js';
import type { Message } from '../../../contracts/schemas/message.js';
import type { ExecutionFacts } from '../checks/evidence.js';

const ANSWER_MS_MAX = 30_000;
const RETRY_MS = 200;
const EXECUTIONS_MAX = 1_000;

/** Asks questions about a run. A question without an answer within 30 s is noted. */
export class Inquiry {
  readonly unanswered: string[] = [];

  async ask<T>(what: string, question: () => Promise<T>, otherwise: T): Promise<T> {
    const until = Date.now() + ANSWER_MS_MAX;
    for (;;) {
      try {
        return await question();
      } catch (error) {
        if (Date.now() > until) {
          this.unanswered.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
          return otherwise;
        }
      }
      await delay(RETRY_MS);
    }
  }
}

/** All messages of a run. */
export async function readTranscript(run: RunHandle): Promise<Message[]> {
  const messages: Message[] = [];
  for await (const page of run.transcript()) messages.push(...page.messages);
  return messages;
}

/** The number of tool calls of a run whose outcome is unknown. */
export async function countUnknownOutcomes(run: RunHandle): Promise<number> {
  const { events } = await run.events({ types: ['tool.result'] });
  return events.filter((event) => event.type === 'tool.result' && event.outcome === 'unknown').length;
}

/** The executions of a run from the first one on, read from their histories. */
export async function readExecutions(client: Client, runId: string, firstExecutionId: string): Promise<ExecutionFacts[]> {
  const executions: ExecutionFacts[] = [];
  let next: string | undefined = firstExecutionId;
  while (next !== undefined && executions.length < EXECUTIONS_MAX) {
    const executionId: string = next;
    const { events } = await client.workflow.getHandle(runId, executionId).fetchHistory();
    executions.push({ executionId, failedTasks: (events ?? []).flatMap(failedTask) });
    next = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
  }
  return executions;
}

type HistoryEvent = proto.temporal.api.history.v1.IHistoryEvent;

const { WorkflowTaskFailedCause } = proto.temporal.api.enums.v1;

/** A message that arrives while the workflow completes fails that workflow task by design: the server repeats it with the message. */
const HARMLESS: ReadonlySet<number> = new Set([WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND]);

function failedTask({ eventId, workflowTaskFailedEventAttributes: failed }: HistoryEvent): string[] {
  if (!failed || HARMLESS.has(failed.cause ?? 0)) return [];
  const cause = WorkflowTaskFailedCause[failed.cause ?? 0] ?? String(failed.cause);
  return [`event ${String(eventId)}: ${cause.replace('WORKFLOW_TASK_FAILED_CAUSE_', '')}: ${failed.failure?.message ?? 'no message'}`];
}
