import type { RunHandle } from '../../client/run-handle.js';
import { checkExtend } from '../../client/validate/steer-input.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { CliContext } from '../host/context.js';
import type { DirectOptions } from '../host/signal-run.js';
import { sendUpdate } from '../host/update-run.js';
import { parseDuration } from '../options/duration.js';

/** The options of `extend`, before validation: a value that is not a number is still text. */
export interface ExtendOptions extends DirectOptions {
  readonly turns?: number | string;
  readonly maxCost?: number | string;
  readonly maxTokens?: number | string;
  readonly deadline?: string;
}

/** `extend RUN`: increases the limits of a running agent. */
export async function extend(runId: string, options: ExtendOptions, context: CliContext): Promise<number> {
  const { turns, maxCost, maxTokens, deadline } = options;
  if ([turns, maxCost, maxTokens, deadline].every((cap) => cap === undefined)) {
    throw new PerdureError('BAD_OPTION', 'extend: give at least one of --turns, --max-cost, --max-tokens, --deadline', 2);
  }
  const by = checkExtend({
    ...(turns === undefined ? {} : { turns }),
    ...(maxCost === undefined ? {} : { costUsd: maxCost }),
    ...(maxTokens === undefined ? {} : { tokens: maxTokens }),
    ...(deadline === undefined ? {} : { deadlineMs: parseDuration(deadline, 'deadline') }),
  });
  const update = async (run: RunHandle) => {
    const progress = await run.extend(by);
    return { answer: { progress }, line: `${runId}: limits increased (turn limit: ${progress.maxTurns})` };
  };
  return await sendUpdate({ runId, options, update }, context);
}
