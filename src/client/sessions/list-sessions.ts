import { z } from 'zod';
import { AGENT_SESSION } from '../../contracts/handlers.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import type { TemporalAccess } from '../temporal/connection.js';
import { checkSearched } from '../validate/run-input.js';

/** Options of `AgentClient.sessions`. */
export interface SessionListOptions {
  /** @default 50 */
  readonly limit?: number;
  /** Only the sessions of this tenant, whose keys begin with it: `TENANT/KEY`. @default all */
  readonly tenant?: string;
}

/** One session in a list. */
export interface SessionListItem {
  readonly key: string;
  /** `open`: it takes messages. `closed`: it was cancelled; the next message starts a new one. */
  readonly status: 'open' | 'closed';
  readonly agent?: string;
  readonly tenant?: string;
  /** Start of the session, also after it continued as new. ISO 8601. */
  readonly startedAt: string;
}

/** The memo of a session. */
const SessionMemo = z.object({
  key: z.string(),
  agent: z.string().optional(),
  tenant: z.string().optional(),
  startedAt: z.iso.datetime().optional(),
});

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 1_000;

/** Lists the sessions of a task queue, newest first. Visibility lags. Throws `BAD_OPTION` (2). */
export async function listSessions(
  access: TemporalAccess,
  { limit = LIMIT_DEFAULT, tenant }: SessionListOptions,
): Promise<SessionListItem[]> {
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX)
    throw new PerdureError('BAD_OPTION', `limit: integer 1–${LIMIT_MAX}, got ${echoValue(limit)}`, 2);
  const query = [
    `WorkflowType = "${AGENT_SESSION}"`,
    `TaskQueue = ${quoted(access.taskQueue)}`,
    'ExecutionStatus != "ContinuedAsNew"',
    ...(tenant === undefined ? [] : [`WorkflowId STARTS_WITH ${quoted(`session/${checkSearched('tenant', tenant)}/`)}`]),
  ].join(' AND ');
  const found: SessionListItem[] = [];
  await access.ask(async () => {
    for await (const { workflowId, memo, status, startTime } of access.client.workflow.list({ query, pageSize: limit })) {
      const { key = workflowId.replace(/^session\//u, ''), startedAt, ...others } = SessionMemo.partial().safeParse(memo).data ?? {};
      found.push({
        key,
        status: status.name === 'RUNNING' ? 'open' : 'closed',
        ...(others.agent === undefined ? {} : { agent: others.agent }),
        ...(others.tenant === undefined ? {} : { tenant: others.tenant }),
        startedAt: startedAt ?? startTime.toISOString(),
      });
      if (found.length >= limit) break;
    }
  });
  return found;
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/gu, '\\$&')}"`;
}
