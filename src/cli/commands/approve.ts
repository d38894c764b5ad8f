import type { RunHandle } from '../../client/run-handle.js';
import { checkDecision } from '../../client/validate/steer-input.js';
import type { CliContext } from '../host/context.js';
import type { DirectOptions } from '../host/signal-run.js';
import { currentUser, sendUpdate } from '../host/update-run.js';

/** `approve RUN CALL`: approves a pending call. */
export async function approve(
  runId: string,
  callId: string,
  options: DirectOptions & { by?: string },
  context: CliContext,
): Promise<number> {
  const { by = currentUser().by } = options;
  const given = by === undefined ? {} : { by };
  checkDecision({ callId, ...given });
  const update = async (run: RunHandle) => {
    const answer = await run.approve(callId, given);
    return { answer, line: `${runId}: ${answer.tool} ${callId} approved by ${answer.by}` };
  };
  return await sendUpdate({ runId, options, update }, context);
}

/** `deny RUN CALL`: denies a pending call. The model sees the name and the reason. */
export async function deny(
  runId: string,
  callId: string,
  options: DirectOptions & { by?: string; reason?: string },
  context: CliContext,
): Promise<number> {
  const { reason, by = currentUser().by } = options;
  const given = { ...(by === undefined ? {} : { by }), ...(reason === undefined ? {} : { reason }) };
  checkDecision({ callId, ...given });
  const update = async (run: RunHandle) => {
    const answer = await run.deny(callId, given);
    return { answer, line: `${runId}: ${answer.tool} ${callId} denied by ${answer.by}` };
  };
  return await sendUpdate({ runId, options, update }, context);
}
