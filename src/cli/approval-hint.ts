import type { WatchItem } from '../client/watch-item.js';
import { BUDGET_APPROVAL } from '../contracts/approval.js';

/** The commands that answer what a run just asked a person; undefined for what asks nothing. Pure. */
export function approvalHint(runId: string, item: WatchItem): string | undefined {
  if (item.type !== 'event' || item.event.type !== 'approval.asked') return undefined;
  const { callId } = item.event;
  const yes = callId === BUDGET_APPROVAL ? `perdure extend ${runId} --max-cost USD` : `perdure approve ${runId} ${callId}`;
  return `decide with: ${yes}   or: perdure deny ${runId} ${callId}`;
}
