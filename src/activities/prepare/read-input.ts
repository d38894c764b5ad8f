import type { z } from 'zod';
import { filesProblem } from '../../contracts/files/file-problem.js';
import type { Part } from '../../contracts/schemas/message.js';
import { RunInput } from '../../contracts/schemas/run.js';
import { didYouMean } from '../../contracts/text/did-you-mean.js';
import { outputSchemaProblem } from '../answer/output-schema.js';
import { failure, messageOf } from '../runtime/failures.js';

/** The part types of a task. Calls, results and thinking can only come from an agent. */
const TASK_PARTS: ReadonlySet<Part['type']> = new Set(['text', 'file', 'artifact']);

/** Reads the input of a run, which may come from any client. Throws `Input.Invalid` with all problems in one line. */
export function parseInput(given: unknown): RunInput {
  const parsed = readInput(given);
  if (!parsed.success) throw failure('Input.Invalid', `BAD_INPUT ${parsed.error.issues.flatMap(describeIssue).join('; ')}`);
  const { outputSchema, task } = parsed.data;
  const schemaProblem = outputSchema && outputSchemaProblem(outputSchema);
  if (schemaProblem) throw failure('Input.Invalid', `BAD_INPUT ${schemaProblem}`);
  const strange = typeof task === 'string' ? undefined : task.find(({ type }) => !TASK_PARTS.has(type));
  if (strange) throw failure('Input.Invalid', `BAD_INPUT task: a part of type ${strange.type} cannot come from a user`);
  const parts = [
    ...(typeof task === 'string' ? [] : task),
    ...(parsed.data.messages ?? []).flatMap((message): readonly Part[] => message.parts),
  ];
  const fileProblem = filesProblem(parts);
  if (fileProblem) throw failure('Input.Invalid', fileProblem);
  const isEmpty = typeof task === 'string' ? task.trim() === '' : task.length === 0;
  if (isEmpty) throw failure('Input.Invalid', 'EMPTY_MESSAGE: the task has no text and no attachment');
  return parsed.data;
}

/** Parses the input. Deeply nested JSON overflows the stack, so the schema may throw. */
function readInput(given: unknown): ReturnType<typeof RunInput.safeParse> {
  try {
    return RunInput.safeParse(given);
  } catch (error) {
    throw failure('Input.Invalid', `BAD_INPUT input: cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

function describeIssue(issue: z.core.$ZodIssue): string[] {
  if (issue.code !== 'unrecognized_keys') return [`${issue.path.join('.') || 'input'}: ${issue.message}`];
  const known = issue.path.length === 0 ? Object.keys(RunInput.shape) : [];
  return issue.keys.map((key) => `${[...issue.path, key].join('.')}: unknown${didYouMean(key, known)}`);
}
