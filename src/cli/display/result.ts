import type { Reason, RunResult, SteerRecord } from '../../contracts/schemas/run.js';
import { formatNumberOf, formatUsage } from './format.js';
import { type Output, printJson, printText, say } from './output.js';

/** How to print a result. */
export interface PrintResultOptions {
  readonly json: boolean;
  /** True when the text of the output stands on the terminal already. */
  readonly shown: boolean;
}

/** Prints how a run ended: its output on stdout, the rest on stderr. With `json` the whole result is the one document on stdout. */
export function printResult(output: Output, result: RunResult, options: PrintResultOptions): void {
  if (options.json) printJson(output, result);
  else if (result.output !== '' && !options.shown) printText(output, result.output);
  for (const line of resultLines(result)) say(output, line);
}

/** What a person should know of a run's end beside its output: error, messages it left, and how to go on. Pure. */
function resultLines(result: RunResult): string[] {
  const { runId, reason, turns, error } = result;
  // one that was refused before its first turn would be refused again
  const canGoOn = reason !== 'completed' && !(reason === 'error' && turns === 0);
  return [
    ...(error ? [`${error.type}: ${error.message}`] : []),
    ...result.unconsumed.map(({ id, text }) => `message ${id} was not read: ${text}`),
    ...(result.steers ?? []).flatMap(lostMessage),
    `${runId}: ${reason} after ${formatNumberOf(turns, 'turn')}, ${formatUsage(result.usage, result.costUsd)}`,
    ...(canGoOn ? [`go on with: perdure continue ${runId}`] : []),
  ];
}

/** A message that nobody reads any more, and that does not stand among the unconsumed ones. */
function lostMessage({ id, state, reason }: SteerRecord): string[] {
  if (state === 'expired') return [`message ${id} expired before it was read`];
  return state === 'refused' ? [`message ${id} was refused${reason === undefined ? '' : `: ${reason}`}`] : [];
}

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
