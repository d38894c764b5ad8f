import type { Check, Finding } from './evidence.js';

/** The run ends within its bound after the last fault was healed. */
export const endsInTime: Check = ({ result, endsWithinMs }) =>
  result ? [] : [{ kind: 'hung', check: 'ends-in-time', message: `the run did not end within ${endsWithinMs} ms after the last fault` }];

/** The run ends for a reason that is right for this agent. */
export const rightReason: Check = ({ result, reasons }) => {
  if (!result || reasons.includes(result.reason)) return [];
  const error = result.error ? ` (${result.error.type}: ${result.error.message})` : '';
  return broken('right-reason', [`the run ended with ${result.reason}${error}, not ${reasons.join(' or ')}`]);
};

/** Temporal's own client reads the same result. */
export const plainResult: Check = ({ result, plainResult: plain }) => {
  if (!result || !plain || result.reason === 'error') return [];
  if ('error' in plain) return broken('plain-result', [`a plain Temporal client cannot read the result: ${plain.error}`]);
  return plain.reason === result.reason ? [] : broken('plain-result', [`a plain Temporal client reads reason ${plain.reason}`]);
};

/** No workflow task failed, in any execution of the run. */
export const noFailedTask: Check = ({ executions }) =>
  broken(
    'no-failed-task',
    executions.flatMap(({ executionId, failedTasks }) => failedTasks.map((task) => `execution ${executionId}: ${task}`)),
  );

/** No worker process ended by itself. */
export const workersLive: Check = ({ surprises }) => broken('workers-live', surprises);

/** The run and its server answer each question after the faults stopped. */
export const answers: Check = ({ unanswered }) => broken('answers', unanswered);

function broken(check: string, messages: readonly string[]): readonly Finding[] {
  return messages.map((message) => ({ kind: 'broken', check, message }));
}
