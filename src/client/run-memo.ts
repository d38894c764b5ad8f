import { z } from 'zod';
import { hashJson } from '../contracts/digest.js';
import { RunInput } from '../contracts/schemas/run.js';
import { taskTitle } from './runs/run-summary.js';

/**
 * What a run carries beside its history, readable without a worker: whether another start means the same run, what a list shows, and
 * what `continue` takes over. Runs started by other clients have none.
 */
export const RunMemo = z.object({
  inputHash: z.string(),
  task: z.string(),
  /** The input without its task and messages: small, whatever the run works on. */
  options: RunInput.omit({ task: true, messages: true }),
});
export type RunMemo = z.infer<typeof RunMemo>;

/** The memo of a checked input. */
export function memoOf(input: RunInput): RunMemo {
  const { task: _task, messages: _messages, ...options } = input;
  return { inputHash: hashJson(input), task: taskTitle(input), options };
}
