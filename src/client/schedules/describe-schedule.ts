import type { ScheduleDescription, ScheduleOverlapPolicy } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { z } from 'zod';
import { PerdureError } from '../../contracts/perdure-error.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { firingId } from '../../contracts/text/schedules/firing.js';
import type { ScheduleOverlap } from '../../contracts/text/schedules/schedule.js';
import type { TemporalAccess } from '../temporal/connection.js';

/** What a schedule started at one of its times. */
export interface StartedBySchedule {
  /** Id of the run. For a schedule with a session, the id of the message. */
  readonly id: string;
  /** The time of the schedule, ISO 8601. */
  readonly at: string;
  /** When it was started, ISO 8601: later after an outage, or behind an earlier run. */
  readonly startedAt: string;
}

/** One schedule in a list. */
export interface ScheduleItem {
  readonly name: string;
  readonly status: 'active' | 'paused';
  /** Such as `cron 0 8 * * 1-5`, `every 6h`, `at 08:00 each day`. */
  readonly times: string;
  readonly timeZone: string;
  /** The task in one line. */
  readonly task: string;
  readonly agent?: string;
  /** Key of the session that gets the messages. Absent when each start is a run. */
  readonly session?: string;
  /** The next time, ISO 8601. Absent when none is left. */
  readonly next?: string;
  /** What it started last. */
  readonly last?: StartedBySchedule;
}

/** A schedule with its policies and counts. */
export interface ScheduleState extends Omit<ScheduleItem, 'last'> {
  /** The next 10 times, ISO 8601. */
  readonly upcoming: readonly string[];
  /** The last 10 starts, oldest first. */
  readonly recent: readonly StartedBySchedule[];
  /** Ids of the runs that are active. */
  readonly running: readonly string[];
  readonly overlap: ScheduleOverlap | 'terminate-other';
  /** In milliseconds. */
  readonly catchUpMs: number;
  /** What operators wrote last. */
  readonly note?: string;
  /** Number of starts so far. */
  readonly started: number;
  /** Number of starts that were missed for longer than `catchUpMs`. */
  readonly missed: number;
  /** Number of starts that were skipped, because an earlier run was active. */
  readonly skipped: number;
  /** Number of starts that wait for the end of an earlier run. */
  readonly waiting: number;
  /** Number of starts that were dropped, because 1,000 others waited. */
  readonly dropped: number;
  /** ISO 8601. */
  readonly createdAt: string;
}

/** Options of `Schedules.list`. */
export interface ScheduleListOptions {
  /** @default 50 */
  readonly limit?: number;
}

/** The memo of a schedule of this package. */
export const ScheduleMemo = z.object({
  taskQueue: z.string(),
  times: z.string(),
  timeZone: z.string(),
  task: z.string(),
  agent: z.string().optional(),
  session: z.string().optional(),
});
export type ScheduleMemo = z.infer<typeof ScheduleMemo>;

/** The overlap policies, as Temporal names them. */
export const OVERLAP_POLICIES = {
  skip: 'SKIP',
  'buffer-one': 'BUFFER_ONE',
  'buffer-all': 'BUFFER_ALL',
  'cancel-other': 'CANCEL_OTHER',
  'allow-all': 'ALLOW_ALL',
} as const satisfies Record<ScheduleOverlap, ScheduleOverlapPolicy>;

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 1_000;
const SHOWN_MAX = 10;

/** Builds the state of a schedule from the data of the server. */
export function toState(description: ScheduleDescription, memo: ScheduleMemo): ScheduleState {
  const { scheduleId, state, info, policies, raw } = description;
  const upcoming = info.nextActionTimes.map(toIso);
  return {
    ...itemOf(scheduleId, { memo, paused: state.paused, next: upcoming[0] }),
    upcoming: upcoming.slice(0, SHOWN_MAX),
    recent: info.recentActions.map(({ scheduledAt, takenAt }) => startedOf(scheduleId, scheduledAt, takenAt)).slice(-SHOWN_MAX),
    running: info.runningActions.map(({ workflow }) => workflow.workflowId),
    overlap: overlapOf(policies.overlap),
    catchUpMs: policies.catchupWindow,
    ...(state.note ? { note: state.note } : {}),
    started: info.numActionsTaken,
    missed: info.numActionsMissedCatchupWindow,
    skipped: info.numActionsSkippedOverlap,
    waiting: Number(raw.info?.bufferSize ?? 0),
    dropped: Number(raw.info?.bufferDropped ?? 0),
    createdAt: toIso(info.createdAt),
  };
}

/** Lists the schedules of a task queue, by name. Visibility lags. Schedules of other programs are left out. Throws `BAD_OPTION` (2). */
export async function listSchedules(access: TemporalAccess, { limit = LIMIT_DEFAULT }: ScheduleListOptions): Promise<ScheduleItem[]> {
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX)
    throw new PerdureError('BAD_OPTION', `limit: integer 1–${LIMIT_MAX}, got ${echoValue(limit)}`, 2);
  const found: ScheduleItem[] = [];
  const { workflowService } = access.connection;
  let nextPageToken: Uint8Array = new Uint8Array();
  do {
    const page = await access.ask(() =>
      workflowService.listSchedules({ namespace: access.namespace, maximumPageSize: LIMIT_MAX, nextPageToken }),
    );
    for (const { scheduleId, memo: raw, info } of page.schedules) {
      const memo = await readMemo(access, raw?.fields ?? {});
      if (!scheduleId || memo?.taskQueue !== access.taskQueue) continue;
      const [next] = info?.futureActionTimes ?? [];
      const last = info?.recentActions?.at(-1);
      found.push({
        ...itemOf(scheduleId, { memo, paused: info?.paused === true, next: next ? toIso(toDate(next)) : undefined }),
        ...(last?.scheduleTime ? { last: startedOf(scheduleId, toDate(last.scheduleTime), toDate(last.actualTime ?? {})) } : {}),
      });
    }
    nextPageToken = page.nextPageToken;
  } while (nextPageToken.length > 0 && found.length < limit);
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1)).slice(0, limit);
}

/** Reads the memo of a schedule, which any program may have made: undefined for one of another program, or that this client cannot decode. */
async function readMemo({ client }: TemporalAccess, fields: Readonly<Record<string, Payload>>): Promise<ScheduleMemo | undefined> {
  const { payloadCodecs, payloadConverter } = client.options.loadedDataConverter;
  try {
    const decoded: Record<string, unknown> = {};
    for (const [name, payload] of Object.entries(fields)) {
      let plain = payload;
      for (const codec of payloadCodecs.toReversed()) [plain = plain] = await codec.decode([plain]);
      decoded[name] = payloadConverter.fromPayload(plain);
    }
    return ScheduleMemo.safeParse(decoded).data;
  } catch {
    // a schedule of another program, with codecs of its own
    return undefined;
  }
}

interface ItemParts {
  readonly memo: ScheduleMemo;
  readonly paused: boolean;
  readonly next: string | undefined;
}

function itemOf(name: string, { memo, paused, next }: ItemParts): Omit<ScheduleItem, 'last'> {
  const { times, timeZone, task, agent, session } = memo;
  return {
    name,
    status: paused ? 'paused' : 'active',
    times,
    timeZone,
    task,
    ...(agent === undefined ? {} : { agent }),
    ...(session === undefined ? {} : { session }),
    ...(next === undefined ? {} : { next }),
  };
}

function startedOf(name: string, at: Date, startedAt: Date): StartedBySchedule {
  return { id: firingId({ name, atMs: at.getTime() }), at: toIso(at), startedAt: toIso(startedAt) };
}

function overlapOf(policy: ScheduleOverlapPolicy): ScheduleState['overlap'] {
  const [name] = Object.entries(OVERLAP_POLICIES).find(([, known]) => known === policy) ?? [];
  // another client may have set the one that this package does not offer
  return (name as ScheduleOverlap | undefined) ?? 'terminate-other';
}

function toDate({ seconds, nanos }: { readonly seconds?: { toString(): string } | null; readonly nanos?: number | null }): Date {
  return new Date(Number(seconds ?? 0) * 1_000 + Math.floor((nanos ?? 0) / 1_000_000));
}

function toIso(date: Date): string {
  return date.toISOString().replace('.000Z', 'Z');
}
