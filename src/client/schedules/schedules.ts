import {
  DAYS_OF_WEEK,
  MONTHS,
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  type ScheduleHandle,
  ScheduleNotFoundError,
  type ScheduleSpec,
} from '@temporalio/client';
import { SCHEDULE_LIMITS } from '../../contracts/constants/limits.js';
import { AGENT_RUN, SCHEDULED_MESSAGE } from '../../contracts/handlers.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { ScheduledMessageInput } from '../../contracts/schemas/session.js';
import { cleanText } from '../../contracts/text/sanitize-text.js';
import { type ScheduleTimes } from '../../contracts/text/schedules/schedule.js';
import { memoOf, newRunId } from '../runs/run-summary.js';
import { checkStart, type StartInput, startRun } from '../runs/start-run.js';
import { sendDurably } from '../sessions/send-message.js';
import type { TemporalAccess } from '../temporal/connection.js';
import { checkRunInput } from '../validate/run-input.js';
import {
  listSchedules,
  OVERLAP_POLICIES,
  type ScheduleItem,
  type ScheduleListOptions,
  ScheduleMemo,
  type ScheduleState,
  toState,
} from './describe-schedule.js';
import { OwnerGrants } from './owner-grants.js';
import { actionOf, purposeOf } from './schedule-action.js';
import { checkSchedule, checkScheduleName, type ScheduleOptions } from './schedule-options.js';

/** What `run` started: a run, or a message to a session. */
export type ScheduledRun =
  | { readonly runId: string; readonly executionId: string }
  | { readonly session: string; readonly messageId: string };

/**
 * Schedules of Temporal that start tasks of agents at fixed times. They are kept by the server: they fire without a worker, and what they start
 * waits for one. Every method may throw `TEMPORAL_UNREACHABLE` (5), and those of one schedule `NO_SCHEDULE` (3).
 */
export class Schedules {
  readonly #access: TemporalAccess;
  readonly #grants: OwnerGrants;

  constructor(access: TemporalAccess) {
    this.#access = access;
    this.#grants = new OwnerGrants(access.stateDir, access.sign);
  }

  /**
   * Creates a schedule that starts this input as a run `NAME-TIME`, or sends its task to a session. Throws before anything is sent:
   * `BAD_SCHEDULE_NAME`, `BAD_SCHEDULE` for its times, and as `AgentClient.start` does (2). Throws `SCHEDULE_EXISTS` (4), and `BAD_SCHEDULE` (2)
   * for times that never come.
   */
  async create(name: string, input: Omit<StartInput, 'id'>, options: ScheduleOptions): Promise<ScheduleState> {
    const { times, overlap, catchUpMs } = checkSchedule(name, options);
    const run = checkRunInput(input);
    const { input: started, ...action } = actionOf(name, run, options.session);
    const { taskQueue } = this.#access;
    const memo: ScheduleMemo = {
      taskQueue,
      times: times.text,
      timeZone: times.timeZone,
      task: memoOf(run).task,
      ...(run.agent === undefined ? {} : { agent: run.agent }),
      ...(options.session === undefined ? {} : { session: options.session }),
    };
    await this.#refuseExisting(name);
    const allowed = { name, times, input: started };
    const forget = await this.#grants.prepare(allowed);
    const handle = await this.#ask(name, () =>
      this.#access.client.schedule.create({
        scheduleId: name,
        spec: specOf(times),
        action: { ...action, type: 'startWorkflow', workflowId: name, taskQueue },
        policies: { overlap: OVERLAP_POLICIES[overlap], catchupWindow: catchUpMs },
        memo,
        // it may start nothing before its owner has allowed that
        state: { paused: true, note: purposeOf(memo) },
      }),
    ).catch(async (error: unknown) => {
      // another process was faster; after any other error, the schedule may be there
      if (error instanceof PerdureError && error.code === 'SCHEDULE_EXISTS') await forget();
      throw error;
    });
    const { info } = await this.#ask(name, () => handle.describe());
    if (info.nextActionTimes.length === 0) {
      await this.#ask(name, () => handle.delete());
      await forget();
      throw new PerdureError('BAD_SCHEDULE', `${times.text} (${times.timeZone}) never comes`, 2);
    }
    await this.#grants.allow(allowed);
    await this.#ask(name, () => handle.unpause(purposeOf(memo)));
    return await this.show(name);
  }

  /** Lists the schedules of this client's task queue, by name. The list lags a moment behind changes. Throws `BAD_OPTION` (2). */
  async list(options: ScheduleListOptions = {}): Promise<ScheduleItem[]> {
    return await listSchedules(this.#access, options);
  }

  /** The times, the policies, the last starts and the counts of a schedule. */
  async show(name: string): Promise<ScheduleState> {
    const { description, memo } = await this.#find(name);
    return toState(description, memo);
  }

  /** Pauses a schedule: it starts nothing until `resume`, and does not make up the starts. What runs continues. `note`: why, for operators. */
  async pause(name: string, note = 'paused'): Promise<void> {
    const { handle } = await this.#find(name);
    // the grant first: a process that is killed in between leaves a schedule that starts nothing
    await this.#grants.pause(name);
    await this.#ask(name, () => handle.pause(noteOf(note)));
  }

  /** Resumes a paused schedule. */
  async resume(name: string): Promise<void> {
    const { handle, memo } = await this.#find(name);
    await this.#grants.resume(name);
    await this.#ask(name, () => handle.unpause(purposeOf(memo)));
  }

  /**
   * Starts the task of a schedule now, also of a paused one and beside an active run: a run `NAME-run-…`, or a message to its session. Throws
   * `SCHEDULE_CHANGED` (4) at an embedded server if another client changed the task.
   */
  async run(name: string): Promise<ScheduledRun> {
    const { description } = await this.#find(name);
    const { workflowType, args } = description.action;
    const [input] = args ?? [];
    if (typeof input !== 'object' || input === null) throw noSchedule(name);
    const access = (await this.#grants.allows(name, input)) ? this.#access : this.#access.unsigned();
    // not that of a time: the server may start it in the same second
    const id = `${name}-${newRunId()}`;
    if (workflowType === AGENT_RUN) {
      const { executionId } = await startRun(access, checkStart({ ...input, id }));
      return { runId: id, executionId };
    }
    const { session, parts } = ScheduledMessageInput.parse(input);
    await sendDurably(access, { session, message: { id, parts, queue: 'followup' } });
    return { session: session.key, messageId: id };
  }

  /** Deletes a schedule. What it started continues. */
  async delete(name: string): Promise<void> {
    const { handle } = await this.#find(name);
    await this.#grants.pause(name);
    await this.#ask(name, () => handle.delete());
    await this.#grants.revoke(name);
  }

  /** Throws `SCHEDULE_EXISTS` for a name that is taken, so that its grant is not touched. */
  async #refuseExisting(name: string): Promise<void> {
    const handle = this.#access.client.schedule.getHandle(name);
    const found = await this.#ask(name, () => handle.describe()).catch(ifNoSchedule);
    if (found) throw scheduleExists(name);
  }

  /** A schedule of this package. One of another program must not be changed, so it counts as missing. */
  async #find(given: string): Promise<{ handle: ScheduleHandle; description: ScheduleDescription; memo: ScheduleMemo }> {
    const name = checkScheduleName(given);
    const handle = this.#access.client.schedule.getHandle(name);
    const description = await this.#ask(name, () => handle.describe());
    const { data: memo } = ScheduleMemo.safeParse(description.memo);
    const isOurs = [AGENT_RUN, SCHEDULED_MESSAGE].includes(description.action.workflowType);
    if (!memo || !isOurs) throw noSchedule(name);
    return { handle, description, memo };
  }

  async #ask<T>(name: string, request: () => Promise<T>): Promise<T> {
    try {
      return await this.#access.ask(request, undefined, SCHEDULE_LIMITS.requestTimeoutMs);
    } catch (error) {
      if (error instanceof ScheduleNotFoundError) throw noSchedule(name, error);
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      throw scheduleExists(name, error);
    }
  }
}

function scheduleExists(name: string, cause?: unknown): PerdureError {
  const advice = `look at it with 'perdure schedule show ${name}', or delete it first`;
  return new PerdureError('SCHEDULE_EXISTS', `schedule ${name} already exists; ${advice}`, 4, { cause });
}

function ifNoSchedule(error: unknown): undefined {
  if (!(error instanceof PerdureError) || error.code !== 'NO_SCHEDULE') throw error;
}

function noSchedule(name: string, cause?: unknown): PerdureError {
  return new PerdureError('NO_SCHEDULE', `no schedule ${name}; list schedules with 'perdure schedule ls'`, 3, { cause });
}

/** The times as the SDK takes them. */
function specOf({ calendars, everyMs, timeZone, text }: ScheduleTimes): ScheduleSpec {
  const specs = calendars.map(({ month, dayOfWeek, year, ...fields }) => ({
    ...fields,
    ...(year === undefined ? {} : { year }),
    month: month.flatMap((number) => MONTHS[number - 1] ?? []),
    dayOfWeek: dayOfWeek.flatMap((number) => DAYS_OF_WEEK[number] ?? []),
    comment: text,
  }));
  return {
    ...(specs.length === 0 ? {} : { calendars: specs }),
    ...(everyMs === undefined ? {} : { intervals: [{ every: everyMs }] }),
    timezone: timeZone,
  };
}

function noteOf(text: string): string {
  return cleanText(text).trim().slice(0, SCHEDULE_LIMITS.noteCharsMax).toWellFormed();
}
