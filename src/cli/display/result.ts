import type { Reason, RunResult, SteerRecord } from '../../contracts/schemas/run.js';
import { formatNumberOf, formatUsage } from './format.js';
import { type Output, printJson, printText, say } from './output.js';

/** Options of `printResult`. */
export interface PrintResultOptions {
  readonly json: boolean;
  /** True if the display already printed the output. */
  readonly shown: boolean;
}

/** Prints the output of a run on stdout and the rest on stderr. With `json`, prints the whole result as one document on stdout. */
export function printResult(output: Output, result: RunResult, options: PrintResultOptions): void {
  if (options.json) printJson(output, result);
  else if (result.output !== '' && !options.shown) printText(output, result.output);
  for (const line of resultLines(result)) say(output, line);
}

/** The lines below the output of a run: its error, undelivered messages, a summary, and how to continue. Pure. */
function resultLines(result: RunResult): string[] {
  const { runId, reason, turns, error } = result;
  // a run that was rejected before its first turn would be rejected again
  const canContinue = reason !== 'completed' && !(reason === 'error' && turns === 0);
  return [
    ...(error ? [`${error.type}: ${error.message}`] : []),
    ...result.unconsumed.map(({ id, text }) => `message ${id} was not delivered: ${text}`),
    ...(result.steers ?? []).flatMap(lostMessage),
    ...unknownLine(result),
    `${runId}: ${reason} after ${formatNumberOf(turns, 'turn')}, ${formatUsage(result.usage, result.costUsd)}`,
    ...(canContinue ? [`continue it with: perdure continue ${runId}`] : []),
  ];
}

function unknownLine({ unknownOutcomes: ids = [] }: RunResult): string[] {
  return ids.length === 0
    ? []
    : [`the outcome of ${formatNumberOf(ids.length, 'call')} is unknown: ${ids.join(', ')}; check the state before you repeat them`];
}

/** A message that expired or was refused. These are not listed in `unconsumed`. */
function lostMessage({ id, state, reason }: SteerRecord): string[] {
  if (state === 'expired') return [`message ${id} expired before it was delivered`];
  return state === 'refused' ? [`message ${id} was refused${reason === undefined ? '' : `: ${reason}`}`] : [];
}

/** The exit status of `run`, `watch` and `continue` for each end reason of a run. */
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
