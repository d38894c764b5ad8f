import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { PreparedRun } from '../../contracts/activities.js';
import { PAYLOAD_LIMITS, SUBAGENT_LIMITS, WORK_LIMITS } from '../../contracts/constants/limits.js';
import { SEARCH_ATTRIBUTES, type SearchAttributeName } from '../../contracts/constants/search-attributes.js';
import type { Progress, RunStatus } from '../../contracts/schemas/run.js';
import { cutText } from '../../contracts/text/redact.js';
import { toolTitle } from '../../contracts/text/tool-title.js';
import type { Run } from '../state/run.js';
import { currentDetails } from './current-details.js';

/** The status of a run, for query `progress` and for the Web UI. */
export function progressOf(run: Run): Progress {
  const cooling = run.route.cooling(Date.now());
  const lastTool = run.lastTool ?? lastCallTitle(run);
  return {
    status: run.status,
    phase: run.phase,
    ...(run.waitingFor === undefined ? {} : { waitingFor: run.waitingFor }),
    turn: run.counters.turn,
    maxTurns: run.caps.maxTurns,
    ...(run.tool === undefined ? {} : { tool: run.tool }),
    ...(lastTool === undefined ? {} : { lastTool }),
    ...(run.unknownOutcomes.length === 0 ? {} : { unknownOutcomes: run.unknownOutcomes.length }),
    usage: run.spending.usage,
    ...(run.spending.costUsd === undefined ? {} : { costUsd: run.spending.costUsd }),
    ...limitsOf(run),
    inbox: run.inbox.length,
    pendingApprovals: run.approvals.pendingCount,
    ...(run.questions.pendingCount === 0 ? {} : { pendingQuestions: run.questions.pendingCount }),
    ...subagentsOf(run),
    ...(run.lastDecision === undefined ? {} : { lastDecision: run.lastDecision }),
    agent: run.prepared.setup.agent,
    ...(run.agent.handoffs === 0 ? {} : { agents: [...run.agent.names] }),
    model: run.route.model,
    ...(cooling.length === 0 ? {} : { cooling }),
  };
}

function limitsOf({ caps: { maxTokens, maxCostUsd }, clock: { deadlineMs, workedMs } }: Run): Pick<Progress, 'limits'> {
  const limits = {
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
    ...(deadlineMs === undefined ? {} : { deadlineMs, workedMs }),
  };
  return Object.keys(limits).length === 0 ? {} : { limits };
}

function subagentsOf({ subagents }: Run): Pick<Progress, 'subagents'> {
  const ended = subagents.ended.map(({ runId, agent, reason }) => ({ runId, agent, reason }));
  const all = [...subagents.live.map(({ runId, agent }) => ({ runId, agent })), ...ended.toReversed()];
  return all.length === 0 ? {} : { subagents: all.slice(0, SUBAGENT_LIMITS.shownMax) };
}

/** The title of the last call in the transcript, for a run that continued in a fresh history. */
function lastCallTitle({ transcript }: Run): string | undefined {
  const last = transcript.messages.findLast(({ parts }) => parts.some(({ type }) => type === 'tool_call'));
  const call = last?.parts.findLast((part) => part.type === 'tool_call');
  return call && toolTitle(call.name, call.args);
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
export function publishAttributes(
  { prepared: { searchAttributes } }: { readonly prepared: Pick<PreparedRun, 'searchAttributes'> },
  values: Partial<Record<SearchAttributeName, string | number>>,
): void {
  const known = Object.entries(values).filter(([name]) => searchAttributes.includes(name));
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

/** Updates turns and cost in the search attributes every few turns, so that lists show how far a run is. */
export function reportTurns(run: Run): void {
  if (run.policy.reportsTurns && run.counters.turn % WORK_LIMITS.reportEveryTurns === 0) publishAttributes(run, spentAttributes(run));
}

/** The attributes of a status change. */
export function statusAttributes(run: Run, status: RunStatus): Partial<Record<SearchAttributeName, string | number>> {
  return {
    AgentStatus: status,
    ...spentAttributes(run),
  };
}

/** Turns and cost so far. Nothing before the first turn: 0 turns would be shown until the first update. */
function spentAttributes({ counters, spending }: Run): Partial<Record<SearchAttributeName, number>> {
  if (counters.turn === 0) return {};
  return { AgentTurns: counters.turn, ...(spending.costUsd === undefined ? {} : { AgentCostUsd: spending.costUsd }) };
}
