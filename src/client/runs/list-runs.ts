import type { WorkflowExecutionInfo, WorkflowExecutionStatusName } from '@temporalio/client';
import { executionInfoFromRaw } from '@temporalio/client/lib/helpers.js';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { hashJson } from '../../contracts/digest.js';
import { AGENT_RUN } from '../../contracts/handlers.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { RunStatus } from '../../contracts/schemas/run.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import type { TemporalAccess } from '../temporal/connection.js';
import { checkSearched, checkSessionKey } from '../validate/run-input.js';
import { ContinuedMemo, RunMemo } from './run-summary.js';

/** Which runs are listed or counted. Absent fields select all. */
export interface RunFilter {
  /** The open or the closed ones, or those with this status, such as `waiting` or `completed`. @default all */
  readonly status?: 'open' | 'closed' | RunStatus;
  /** Only the runs of this agent. */
  readonly agent?: string;
  /** Only the runs of this session, or of one of these. */
  readonly session?: string | readonly string[];
  /** Only the runs of this tenant. */
  readonly tenant?: string;
  /** Only the runs that started at this time or later. ISO 8601. For a run that continued as new, its last continuation counts. */
  readonly since?: string;
}

/** Options of `AgentClient.list`. */
export interface ListOptions extends RunFilter {
  /** @default 50 */
  readonly limit?: number;
}

/** Options of `AgentClient.listPage`. */
export interface ListPageOptions extends ListOptions {
  /** The `cursor` of the page before. @default the first page */
  readonly cursor?: string;
}

/** A page of a list. */
export interface RunListPage {
  readonly runs: readonly RunListItem[];
  /** Where the next page begins. Opaque. Absent on the last page. */
  readonly cursor?: string;
}

/** One run in a list. */
export interface RunListItem {
  readonly runId: string;
  readonly executionId: string;
  readonly status: RunStatus | 'closed' | 'terminated' | 'timed_out';
  readonly task?: string;
  readonly agent?: string;
  /** The current or last model of the run. Before the first call, the requested model. */
  readonly model?: string;
  readonly session?: string;
  readonly tenant?: string;
  /** The turn limit in its input, if any. */
  readonly maxTurns?: number;
  /** As of the last update, at most ten turns ago. Absent before the first one. */
  readonly turns?: number;
  /** In USD, as of the last update. Absent before the first one, and if the price of its model is unknown. */
  readonly costUsd?: number;
  /** Start of the run, also after it continued as new. ISO 8601. */
  readonly startedAt: string;
  readonly closedAt?: string;
}

const AGENT_STATUS = defineSearchAttributeKey('AgentStatus', SearchAttributeType.KEYWORD);
const AGENT_NAME = defineSearchAttributeKey('AgentName', SearchAttributeType.KEYWORD);
const AGENT_MODEL = defineSearchAttributeKey('AgentModel', SearchAttributeType.KEYWORD);
const AGENT_SESSION = defineSearchAttributeKey('AgentSession', SearchAttributeType.KEYWORD);
const AGENT_TENANT = defineSearchAttributeKey('AgentTenant', SearchAttributeType.KEYWORD);
const AGENT_TURNS = defineSearchAttributeKey('AgentTurns', SearchAttributeType.INT);
const AGENT_COST = defineSearchAttributeKey('AgentCostUsd', SearchAttributeType.DOUBLE);
const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 1_000;

/**
 * Lists the runs of a task queue, newest first. Visibility lags, so a run started just now may be missing. Throws `BAD_OPTION` and
 * `BAD_SESSION_ID` (2), and `TEMPORAL_REFUSED` (4) for a session or a tenant if the search attributes of runs are not registered.
 */
export async function listRuns(access: TemporalAccess, options: ListOptions): Promise<RunListItem[]> {
  return await list(access, options, checkLimit(options));
}

/** Lists one page of runs, newest first. Throws as `listRuns` does, and `BAD_CURSOR` (2) for a cursor that no page had. */
export async function listRunPage(access: TemporalAccess, { cursor, ...options }: ListPageOptions): Promise<RunListPage> {
  const pageSize = checkLimit(options);
  const query = visibilityQuery(access.taskQueue, options);
  const nextPageToken = readCursor(cursor, query);
  const { namespace, loadedDataConverter } = access.client.options;
  const page = await search(access, options, () =>
    access.connection.workflowService.listWorkflowExecutions({ namespace, query, pageSize, nextPageToken }),
  );
  const infos = await Promise.all(page.executions.map((raw) => executionInfoFromRaw(raw, loadedDataConverter, raw, namespace)));
  const isLast = page.nextPageToken.length === 0;
  return { runs: infos.map(toListItem), ...(isLast ? {} : { cursor: writeCursor(page.nextPageToken, query) }) };
}

/** The server's token, with a sum of it and its query: the server takes seconds to refuse a token that it did not make. */
function writeCursor(token: Uint8Array, query: string): string {
  const text = Buffer.from(token).toString('base64url');
  return `${text}.${hashJson([text, query]).slice(0, 8)}`;
}

function readCursor(cursor: string | undefined, query: string): Uint8Array {
  if (cursor === undefined) return new Uint8Array();
  const token = Buffer.from(cursor.split('.')[0] ?? '', 'base64url');
  if (writeCursor(token, query) === cursor) return token;
  throw new PerdureError('BAD_CURSOR', `cursor: not one of a page with the same filter, got ${echoValue(cursor)}`, 2);
}

function checkLimit({ limit = LIMIT_DEFAULT }: ListOptions): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new PerdureError('BAD_OPTION', `limit: integer 1–${LIMIT_MAX}, got ${echoValue(limit)}`, 2);
}

/** Lists all runs of a session, without a limit, newest first. Throws as `listRuns` does. */
export async function listSession(access: TemporalAccess, session: string): Promise<RunListItem[]> {
  return await list(access, { session }, Number.POSITIVE_INFINITY);
}

/** Counts the runs of a task queue, without a limit. Visibility lags. Throws as `listRuns` does. */
export async function countRuns(access: TemporalAccess, filter: RunFilter): Promise<number> {
  const query = visibilityQuery(access.taskQueue, filter);
  return await search(access, filter, async () => (await access.client.workflow.count(query)).count);
}

async function list(access: TemporalAccess, filter: RunFilter, limit: number): Promise<RunListItem[]> {
  const items: RunListItem[] = [];
  const query = visibilityQuery(access.taskQueue, filter);
  await search(access, filter, async () => {
    for await (const info of access.client.workflow.list({ query, pageSize: Math.min(limit, LIMIT_MAX) })) {
      items.push(toListItem(info));
      if (items.length >= limit) break;
    }
  });
  return items;
}

/** A request to the visibility store. A refusal of a search attribute names the command that registers it. */
async function search<T>(access: TemporalAccess, filter: RunFilter, request: () => Promise<T>): Promise<T> {
  try {
    return await access.ask(request);
  } catch (error) {
    const searched = searchedBy(filter);
    if (searched === undefined || !(error instanceof PerdureError) || error.code !== 'TEMPORAL_REFUSED') throw error;
    const message = `${searched} cannot be searched; register the search attributes with 'perdure doctor --fix' (${error.message})`;
    throw new PerdureError('TEMPORAL_REFUSED', message, 4, { cause: error });
  }
}

/** What a filter searches by a search attribute, in words. */
function searchedBy({ session, tenant, agent, status }: RunFilter): string | undefined {
  if (session !== undefined) return 'sessions';
  if (tenant !== undefined) return 'tenants';
  if (agent !== undefined) return 'agents';
  return RunStatus.safeParse(status).success ? 'statuses' : undefined;
}

/** Lists the IDs of all open runs of a task queue that match `condition`, a visibility query. */
export async function listOpenRunIds(access: TemporalAccess, condition?: string): Promise<string[]> {
  const ids: string[] = [];
  const query = [visibilityQuery(access.taskQueue, { status: 'open' }), ...(condition === undefined ? [] : [condition])].join(' AND ');
  await access.ask(async () => {
    for await (const { workflowId } of access.client.workflow.list({ query, pageSize: LIMIT_MAX })) ids.push(workflowId);
  });
  return ids;
}

/** Builds the list entry of a run from the data of the server. */
export function toListItem(info: Omit<WorkflowExecutionInfo, 'raw'>): RunListItem {
  const memo = RunMemo.safeParse(info.memo);
  const first = ContinuedMemo.safeParse(info.memo).data;
  const { task, options } = memo.success ? memo.data : {};
  const agent = info.typedSearchAttributes.get(AGENT_NAME) ?? options?.agent;
  const model = info.typedSearchAttributes.get(AGENT_MODEL) ?? options?.model;
  const session = info.typedSearchAttributes.get(AGENT_SESSION) ?? options?.session;
  const tenant = info.typedSearchAttributes.get(AGENT_TENANT) ?? options?.tenant;
  const turns = info.typedSearchAttributes.get(AGENT_TURNS);
  const costUsd = info.typedSearchAttributes.get(AGENT_COST);
  return {
    runId: info.workflowId,
    executionId: info.runId,
    status: statusOf(info),
    ...(task === undefined ? {} : { task }),
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
    ...(session === undefined ? {} : { session }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(options?.maxTurns === undefined ? {} : { maxTurns: options.maxTurns }),
    ...(turns === undefined ? {} : { turns }),
    ...(costUsd === undefined ? {} : { costUsd }),
    startedAt: first?.startedAt ?? info.startTime.toISOString(),
    ...(info.closeTime ? { closedAt: info.closeTime.toISOString() } : {}),
  };
}

/** The status of a run. */
function statusOf(info: Pick<WorkflowExecutionInfo, 'status' | 'typedSearchAttributes'>): RunListItem['status'] {
  const written = RunStatus.safeParse(info.typedSearchAttributes.get(AGENT_STATUS));
  const serverStatus = STATUS[info.status.name];
  // a run that the server ended (terminated, timed out) could not write its last status
  if (written.success && (serverStatus === undefined || serverStatus === 'closed')) return written.data;
  return serverStatus ?? 'running';
}

const STATUS: Partial<Record<WorkflowExecutionStatusName, RunListItem['status']>> = {
  COMPLETED: 'closed',
  FAILED: 'error',
  CANCELLED: 'cancelled',
  TERMINATED: 'terminated',
  TIMED_OUT: 'timed_out',
};

function visibilityQuery(taskQueue: string, { status, agent, session, tenant, since }: RunFilter): string {
  const parts = [`WorkflowType = "${AGENT_RUN}"`, `TaskQueue = ${quoted(taskQueue)}`];
  // a chain of continue-as-new executions is one run, so earlier executions are not listed
  parts.push('ExecutionStatus != "ContinuedAsNew"');
  if (session !== undefined) parts.push(`AgentSession IN (${[session].flat().map(checkSessionKey).map(quoted).join(', ')})`);
  if (tenant !== undefined) parts.push(`AgentTenant = ${quoted(checkSearched('tenant', tenant))}`);
  if (agent !== undefined) parts.push(`AgentName = ${quoted(checkSearched('agent', agent))}`);
  if (since !== undefined) parts.push(`StartTime >= ${quoted(checkSince(since))}`);
  if (status !== undefined) parts.push(...statusQuery(status));
  return parts.join(' AND ');
}

function checkSince(since: string): string {
  const time = new Date(since);
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  throw new PerdureError('BAD_OPTION', `since: a time in ISO 8601, got ${echoValue(since)}`, 2);
}

function statusQuery(status: NonNullable<RunFilter['status']>): string[] {
  if (status === 'open' || status === 'closed') return [`ExecutionStatus ${status === 'open' ? '=' : '!='} "Running"`];
  // a run that the server ended could not write its last status
  const isLive = status === 'running' || status === 'paused' || status === 'waiting';
  return [`AgentStatus = ${quoted(status)}`, ...(isLive ? ['ExecutionStatus = "Running"'] : [])];
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/gu, '\\$&')}"`;
}
