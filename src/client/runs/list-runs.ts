import type { WorkflowExecutionInfo, WorkflowExecutionStatusName } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { AGENT_RUN } from '../../contracts/handlers.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { RunStatus } from '../../contracts/schemas/run.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import type { TemporalAccess } from '../temporal/connection.js';
import { checkSession } from '../validate/run-input.js';
import { RunMemo } from './run-summary.js';

/** Which runs to list, newest first. */
export interface ListOptions {
  /** @default all */
  readonly status?: 'open' | 'closed';
  /** Only the runs of this session. */
  readonly session?: string;
  /** @default 50 */
  readonly limit?: number;
}

/** One run as a list shows it. */
export interface RunListItem {
  readonly runId: string;
  readonly executionId: string;
  readonly status: RunStatus | 'closed' | 'terminated' | 'timed_out';
  readonly task?: string;
  readonly agent?: string;
  /** The one that the run is or was with; of a run that wrote none yet, the one that was asked for. */
  readonly model?: string;
  readonly session?: string;
  /** The cap it was started with, when one was given. */
  readonly maxTurns?: number;
  /** As of its last change of status. */
  readonly turns?: number;
  /** USD, as of its last change of status; absent while it has not begun, and when its model's price is unknown. */
  readonly costUsd?: number;
  readonly startedAt: string;
  readonly closedAt?: string;
}

const AGENT_STATUS = defineSearchAttributeKey('AgentStatus', SearchAttributeType.KEYWORD);
const AGENT_NAME = defineSearchAttributeKey('AgentName', SearchAttributeType.KEYWORD);
const AGENT_MODEL = defineSearchAttributeKey('AgentModel', SearchAttributeType.KEYWORD);
const AGENT_SESSION = defineSearchAttributeKey('AgentSession', SearchAttributeType.KEYWORD);
const AGENT_TURNS = defineSearchAttributeKey('AgentTurns', SearchAttributeType.INT);
const AGENT_COST = defineSearchAttributeKey('AgentCostUsd', SearchAttributeType.DOUBLE);
const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 1_000;

/**
 * The runs of one task queue, newest first. Visibility is a little behind: a run started just now may be missing. Throws `BAD_OPTION` and
 * `BAD_SESSION_ID` (2); `TEMPORAL_REFUSED` (4) for a session where the namespace has no search attributes for runs.
 */
export async function listRuns(access: TemporalAccess, options: ListOptions): Promise<RunListItem[]> {
  const limit = options.limit ?? LIMIT_DEFAULT;
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX) {
    throw new PerdureError('BAD_OPTION', `limit: integer 1–${LIMIT_MAX}, got ${echoValue(limit)}`, 2);
  }
  return await list(access, options, limit);
}

/** All runs of a session, however many, newest first. Throws as `listRuns` does. */
export async function listSession(access: TemporalAccess, session: string): Promise<RunListItem[]> {
  return await list(access, { session }, Number.POSITIVE_INFINITY);
}

async function list(access: TemporalAccess, { status, session }: ListOptions, limit: number): Promise<RunListItem[]> {
  const items: RunListItem[] = [];
  const query = visibilityQuery(access.taskQueue, status, session === undefined ? undefined : checkSession(session));
  try {
    await access.ask(async () => {
      for await (const info of access.client.workflow.list({ query, pageSize: Math.min(limit, LIMIT_MAX) })) {
        items.push(toListItem(info));
        if (items.length >= limit) break;
      }
    });
  } catch (error) {
    throw session !== undefined && error instanceof PerdureError && error.code === 'TEMPORAL_REFUSED' ? noSessions(error) : error;
  }
  return items;
}

function noSessions(error: PerdureError): PerdureError {
  const said = `the namespace cannot look for sessions; 'perdure doctor --fix' registers search attributes (${error.message})`;
  return new PerdureError('TEMPORAL_REFUSED', said, 4, { cause: error });
}

/** The ids of all open runs of one task queue that also meet `condition`, a visibility query. */
export async function listOpenRunIds(access: TemporalAccess, condition?: string): Promise<string[]> {
  const ids: string[] = [];
  const query = [visibilityQuery(access.taskQueue, 'open'), ...(condition === undefined ? [] : [condition])].join(' AND ');
  await access.ask(async () => {
    for await (const { workflowId } of access.client.workflow.list({ query, pageSize: LIMIT_MAX })) ids.push(workflowId);
  });
  return ids;
}

/** A run as a list shows it, from what Temporal knows without asking a worker. */
export function toListItem(info: Omit<WorkflowExecutionInfo, 'raw'>): RunListItem {
  const memo = RunMemo.safeParse(info.memo);
  const { task, options } = memo.success ? memo.data : {};
  const agent = info.typedSearchAttributes.get(AGENT_NAME) ?? options?.agent;
  const model = info.typedSearchAttributes.get(AGENT_MODEL) ?? options?.model;
  const session = info.typedSearchAttributes.get(AGENT_SESSION) ?? options?.session;
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
    ...(options?.maxTurns === undefined ? {} : { maxTurns: options.maxTurns }),
    ...(turns === undefined ? {} : { turns }),
    ...(costUsd === undefined ? {} : { costUsd }),
    startedAt: info.startTime.toISOString(),
    ...(info.closeTime ? { closedAt: info.closeTime.toISOString() } : {}),
  };
}

/** A run's status in one word. */
function statusOf(info: Pick<WorkflowExecutionInfo, 'status' | 'typedSearchAttributes'>): RunListItem['status'] {
  const written = RunStatus.safeParse(info.typedSearchAttributes.get(AGENT_STATUS));
  const told = STATUS[info.status.name];
  // a run that ended by Temporal's hand could not write its last status
  if (written.success && (told === undefined || told === 'closed')) return written.data;
  return told ?? 'running';
}

const STATUS: Partial<Record<WorkflowExecutionStatusName, RunListItem['status']>> = {
  COMPLETED: 'closed',
  FAILED: 'error',
  CANCELLED: 'cancelled',
  TERMINATED: 'terminated',
  TIMED_OUT: 'timed_out',
};

function visibilityQuery(taskQueue: string, status: ListOptions['status'], session?: string): string {
  const parts = [`WorkflowType = "${AGENT_RUN}"`, `TaskQueue = "${taskQueue.replaceAll(/["\\]/gu, '\\$&')}"`];
  // a chain of continue-as-new is one run: its earlier links are not listed
  parts.push('ExecutionStatus != "ContinuedAsNew"');
  if (session !== undefined) parts.push(`AgentSession = "${session}"`);
  if (status) parts.push(`ExecutionStatus ${status === 'open' ? '=' : '!='} "Running"`);
  return parts.join(' AND ');
}
