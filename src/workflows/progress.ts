import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { cutText } from '../contracts/failures.js';
import { PAYLOAD_LIMITS } from '../contracts/limits.js';
import type { Progress, RunStatus } from '../contracts/run.js';
import { SEARCH_ATTRIBUTES, type SearchAttributeName } from '../contracts/search-attributes.js';
import type { Run } from './run.js';

/** Where a run stands, for query `progress` and for the Web UI. */
export function progressOf(run: Run): Progress {
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
    model: run.prepared.model,
  };
}

/** Refreshes the current details in the Web UI. They are served by a query: no command, no history. */
export function publishStatus(run: Run): void {
  setCurrentDetails(cutText(currentDetails(run), PAYLOAD_LIMITS.currentDetailsBytesMax));
}

/** Writes search attributes that the server knows. A history event, so only on transitions; an unknown key would fail the task for ever. */
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

/** The query `approvals` lists them all. */
const APPROVALS_SHOWN = 5;

function currentDetails(run: Run): string {
  const progress = progressOf(run);
  const cost = progress.costUsd === undefined ? 'unknown price' : `$${progress.costUsd.toFixed(4)}`;
  const rows = [
    ['Status', progress.waitingFor ? `${progress.status}: waiting for ${progress.waitingFor}` : progress.status],
    ['Phase', progress.phase],
    ['Turn', `${progress.turn} of ${progress.maxTurns}`],
    ['Last tool', progress.tool ?? '–'],
    ['Model', progress.model],
    ['Tokens', `${progress.usage.inputTokens} in (${progress.usage.cacheReadTokens} from cache), ${progress.usage.outputTokens} out`],
    ['Cost', cost],
    ['Messages waiting', String(progress.inbox)],
    ...run.approvals
      .list()
      .pending.slice(0, APPROVALS_SHOWN)
      .map(({ callId, title }) => ['Waits for you', `${title} (${callId})`]),
    ...(progress.lastDecision === undefined ? [] : [['Last decision', progress.lastDecision]]),
  ];
  if (run.result?.error) rows.push(['Error', `${run.result.error.type}: ${run.result.error.message}`]);
  const table = rows.map(([name, value]) => `| ${name} | ${escapeCell(value ?? '')} |`).join('\n');
  return `**${escapeCell(progress.agent)}**\n\n| | |\n|---|---|\n${table}\n`;
}

/** Model and tool text must not break out of its table cell, nor be read as a template. */
function escapeCell(text: string): string {
  return text
    .replaceAll(/\s+/gu, ' ')
    .replaceAll(/[|<>`*_[\]{}\\]/gu, String.raw`\$&`)
    .slice(0, 400);
}
