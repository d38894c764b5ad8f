import { type ChildWorkflowHandle, type ChildWorkflowOptions, executeChild, startChild } from '@temporalio/workflow';
import { AGENT_RUN } from '../contracts/handlers.js';
import { type TypedRunInput, type TypedRunResult, toJsonSchema } from '../contracts/json/output-schema.js';
import type { JsonValue } from '../contracts/schemas/message.js';
import type { RunInput } from '../contracts/schemas/run.js';
import { inputFailure } from './temporal/failures.js';

/** Options for an agent run as a child of a user's own workflow; `workflowId` is the run id. */
export type StartAgentOptions = Omit<ChildWorkflowOptions, 'args'>;

/** An agent run whose structured answer has the type `Structured`. */
export type AgentRun<Structured = JsonValue> = (input: RunInput) => Promise<TypedRunResult<Structured>>;

/** Starts an agent run from inside a workflow and returns its handle once it is started. Throws as `executeAgent` does. */
export function startAgent<Structured = JsonValue>(
  input: TypedRunInput<Structured>,
  options: StartAgentOptions = {},
): Promise<ChildWorkflowHandle<AgentRun<Structured>>> {
  return startChild<AgentRun<Structured>>(AGENT_RUN, { staticSummary: summaryOf(input), ...options, args: [sent(input)] });
}

/**
 * Runs an agent from inside a workflow to its end. Rejects only for reason `error`: every other end is a result. With an `outputSchema` of
 * zod 4, `structured` of the result has the type of that schema. Throws a failure `Input.Invalid` for a schema that is not JSON Schema.
 */
export function executeAgent<Structured = JsonValue>(
  input: TypedRunInput<Structured>,
  options: StartAgentOptions = {},
): Promise<TypedRunResult<Structured>> {
  return executeChild<AgentRun<Structured>>(AGENT_RUN, { staticSummary: summaryOf(input), ...options, args: [sent(input)] });
}

/** The input as it is sent, with the JSON Schema of a zod schema. */
function sent<Structured>({ outputSchema, ...input }: TypedRunInput<Structured>): RunInput {
  if (outputSchema === undefined) return input;
  const converted = toJsonSchema(outputSchema);
  if ('problem' in converted) throw inputFailure(`outputSchema: ${converted.problem}`);
  // the run checks its input
  return { ...input, outputSchema: converted.schema as NonNullable<RunInput['outputSchema']> };
}

function summaryOf({ task, agent }: Pick<RunInput, 'task' | 'agent'>): string {
  const text = typeof task === 'string' ? task : 'task with parts';
  return `${agent ?? 'default'}: ${text}`.slice(0, 200);
}
