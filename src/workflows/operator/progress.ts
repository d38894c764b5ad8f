import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import type { Progress, RunStatus } from '../../contracts/schemas/run.js';
import { SEARCH_ATTRIBUTES, type SearchAttributeName } from '../../contracts/search-attributes.js';
import { cutText } from '../../contracts/text/redact.js';
import type { Run } from '../state/run.js';
import { currentDetails } from './current-details.js';

/** The status of a run, for query `progress` and for the Web UI. */
export function progressOf(run: Run): Progress {
  const cooling = run.route.cooling(Date.now());
  return {
    status: run.status,
    phase: run.phase,
    ...(run.waitingFor === undefined ? {} : { waitingFor: run.waitingFor }),
    turn: run.counters.turn,
    maxTurns: run.caps.maxTurns,
    ...(run.tool === undefined ? {} : { tool: run.tool }),
    usage: run.spending.usage,
    ...(run.spending.costUsd === undefined ? {} : { costUsd: run.spending.costUsd }),
    inbox: run.inbox.length,
    pendingApprovals: run.approvals.pendingCount,
    ...(run.lastDecision === undefined ? {} : { lastDecision: run.lastDecision }),
    agent: run.prepared.setup.agent,
    model: run.route.model,
    ...(cooling.length === 0 ? {} : { cooling }),
  };
}

/**
 * Shows the run in the Web UI from now on. The SDK serves the current details by a query, and converts them to JSON only then: they are
 * written for each query, from the state of that moment. No command, no history.
 */
export function serveDetails(run: Run): void {
  const details = { toJSON: () => cutText(currentDetails(run, progressOf(run)), PAYLOAD_LIMITS.currentDetailsBytesMax) };
  // the SDK takes a text, which would have to be written anew at each step
  setCurrentDetails(details as unknown as string);
}

/**
 * Writes the registered search attributes. Each write is a history event, so call it on transitions only. An unregistered key would fail
 * the workflow task.
 */
export function publishAttributes(run: Run, values: Partial<Record<SearchAttributeName, string | number>>): void {
  const known = Object.entries(values).filter(([name]) => run.prepared.searchAttributes.includes(name));
  if (known.length === 0) return;
  upsertSearchAttributes(
    known.map(([name, value]) => {
      // the value's type is that of the table: callers pass numbers for INT and DOUBLE
      const type = SearchAttributeType[SEARCH_ATTRIBUTES[name as SearchAttributeName]];
      return { key: defineSearchAttributeKey(name, type), value } as Parameters<typeof upsertSearchAttributes>[0] extends (infer P)[]
        ? P
        : never;
    }),
  );
}

/** The attributes of a status change. */
export function statusAttributes(run: Run, status: RunStatus): Partial<Record<SearchAttributeName, string | number>> {
  return {
    AgentStatus: status,
    AgentTurns: run.counters.turn,
    ...(run.spending.costUsd === undefined ? {} : { AgentCostUsd: run.spending.costUsd }),
  };
}
