import type { WatchItem } from '../client/watch-item.js';
import { BUDGET_APPROVAL } from '../contracts/approval.js';

/** What tells a watcher how to answer what a run just asked a person; undefined for what asks nothing. Pure. */
export function approvalHint(runId: string, item: WatchItem): string | undefined {
  if (item.type !== 'event' || item.event.type !== 'approval.asked') return undefined;
  return `decide with: ${decisionCommands(runId, item.event.callId)}`;
}

/** The two commands that decide. More of a cap is not approved but given. */
export function decisionCommands(runId: string, callId: string): string {
  const yes = callId === BUDGET_APPROVAL ? `perdure extend ${runId} --turns N (--help: other caps)` : `perdure approve ${runId} ${callId}`;
  return `${yes}   or: perdure deny ${runId} ${callId}`;
}
