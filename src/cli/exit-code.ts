import type { Reason } from '../contracts/schemas/run.js';

/** The exit status of `run`, `watch` and `continue` by the reason of the run's end. */
export const EXIT_CODE_BY_REASON: Readonly<Record<Reason, number>> = {
  completed: 0,
  error: 1,
  refusal: 1,
  max_turns: 6,
  max_tokens: 6,
  budget: 6,
  deadline: 6,
  loop_detected: 6,
  cancelled: 130,
};
