import type { WaitingApproval } from '../../client/runs/list-approvals.js';
import { decisionCommands } from '../display/approval-hints.js';
import { formatDuration } from '../display/format.js';
import { printJson, printText, say } from '../display/output.js';
import { terminalLine } from '../display/terminal-text.js';
import type { CliContext } from '../host/context.js';
import type { JsonOptions } from '../host/run-verb.js';
import { wakeWorker } from '../host/wake-worker.js';
import { noSuchRun, openPlaceIfThere, type Place } from '../host/workplace.js';

/** `approvals [RUN]`: lists the pending approvals of one run or of all open runs, with the commands that decide them. */
export async function approvals(runId: string | undefined, options: JsonOptions, { output }: CliContext): Promise<number> {
  const tell = (line: string): void => say(output, line);
  const place = await openPlaceIfThere(options, tell);
  if (!place && runId !== undefined) throw noSuchRun(runId);
  try {
    const waiting = place ? await waitingIn(place, runId, tell) : [];
    if (options.json) printJson(output, waiting.map(listed));
    else if (waiting.length > 0) printText(output, formatApprovals(waiting, Date.now()));
    else say(output, 'no pending approvals');
    return 0;
  } finally {
    await place?.close();
  }
}

/** Formats each approval with its call, the rule that requires it, and the commands that decide it. Pure. */
export function formatApprovals(waiting: readonly WaitingApproval[], now: number): string {
  return waiting
    .map(({ runId, callId, title, args, askedBy, reason, since, expires }) =>
      [
        `${runId} ${callId}: ${terminalLine(title)}`,
        `  arguments    ${terminalLine(JSON.stringify(args))}`,
        `  required by  ${terminalLine(askedBy)}${reason === undefined ? '' : `: ${terminalLine(reason)}`}`,
        `  pending for  ${formatDuration(now - Date.parse(since))}${expires === undefined ? '' : `, expires ${expires}`}`,
        `  decide       ${decisionCommands(runId, callId)}`,
      ].join('\n'),
    )
    .join('\n');
}

async function waitingIn(place: Place, runId: string | undefined, tell: (line: string) => void): Promise<WaitingApproval[]> {
  if (runId === undefined) return await waitingInAll(place, tell);
  const run = place.client.get(runId);
  // a closed run has no pending approvals, so no worker is started for it
  if (!(await run.describe()).open) return [];
  await wakeWorker(place, run, tell);
  const { pending } = await run.approvals();
  return pending.map((approval) => ({ runId, ...approval }));
}

async function waitingInAll(place: Place, tell: (line: string) => void): Promise<WaitingApproval[]> {
  const [open] = await place.client.list({ status: 'open', limit: 1 });
  if (open) await wakeWorker(place, place.client.get(open.runId), tell);
  return await place.client.approvals();
}

function listed({ runId, callId, tool, args, since, expires }: WaitingApproval): object {
  return { runId, callId, tool, args, since, ...(expires === undefined ? {} : { expires }) };
}
