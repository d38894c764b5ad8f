import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { AgentClient } from '../../../src/client/agent-client.js';
import { checkSchedule, type ScheduleOptions } from '../../../src/client/schedules/schedule-options.js';
import { sessionId } from '../../../src/contracts/handlers.js';
import { textOf } from '../../../src/contracts/message-text.js';
import { firingId } from '../../../src/contracts/text/schedules/firing.js';
import { isTimeOf, readTimes, shortestGapMs } from '../../../src/contracts/text/schedules/times.js';
import { type AgentWorker, say } from '../../support/agent-worker.js';
import { latch, testRun, until, useWorkers } from '../../support/use-workers.js';
import { useSessions } from '../../workflows/session/support/sessions.js';

const PARTS = [{ type: 'text', text: 'x' }];
const NONE = { id: '', role: 'user' as const, parts: [] };

/** A time that does not come in a test. */
const NEW_YEAR: ScheduleOptions = { cron: '0 0 1 1 *' };

describe('schedules', () => {
  const { worker } = useWorkers();
  const { open } = useSessions();
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end().catch(() => undefined);
  });

  async function scheduling(given: AgentWorker) {
    const client = await AgentClient.connect({ connection: given.client.connection, taskQueue: given.taskQueue });
    const name = `s-${randomUUID()}`;
    const handle = given.client.schedule.getHandle(name);
    ends.push(() => handle.delete());
    return { schedules: client.schedules, client, name, handle };
  }

  it('starts a run at its time, with the title, memo and summary of other runs, and no worker needs to run then', async () => {
    const on = await worker({ model: () => say('swept') });
    await on.shutdown();
    const { schedules, client, name } = await scheduling(on);
    const state = await schedules.create(name, { task: 'sweep the logs', agent: 'janitor' }, { everyMs: 1_000, overlap: 'allow-all' });
    expect(state).toMatchObject({ status: 'active', times: 'every 1s', note: 'Starts a run of agent janitor: sweep the logs' });
    await until(async () => (await schedules.show(name)).recent.length > 0, 'the first start');
    await schedules.pause(name, 'enough');
    const { recent, note, status } = await schedules.show(name);
    expect({ note, status }).toEqual({ note: 'enough', status: 'paused' });
    const { id = '', at = '' } = recent[0] ?? {};
    expect(id).toBe(firingId({ name, atMs: Date.parse(at) }));
    await worker({ model: () => say('swept'), taskQueue: on.taskQueue });
    const handle = on.client.workflow.getHandle(id);
    expect(await handle.result()).toMatchObject({ runId: id, reason: 'completed', output: 'swept' });
    expect(await client.get(id).describe()).toMatchObject({ task: 'sweep the logs', agent: 'default' });
    expect(await (await handle.describe()).staticSummary()).toBe('**janitor** sweep the logs');
  });

  it('has the same times as the server, also when clocks change', async () => {
    const on = await worker({ model: () => say('ok') });
    const cases: readonly [ScheduleOptions, from: string, to: string, count: number][] = [
      // the hour from 2 to 3 does not exist
      [{ cron: '*/20 0-4 * * *', timeZone: 'Europe/Berlin' }, '2027-03-27T12:00Z', '2027-03-29T12:00Z', 27],
      [{ at: '02:30', timeZone: 'Europe/Berlin' }, '2027-03-27T00:00Z', '2027-03-30T00:00Z', 2],
      // the hour from 1 to 2 comes twice
      [{ at: '01:30', timeZone: 'America/New_York' }, '2027-11-06T12:00Z', '2027-11-09T00:00Z', 3],
      [{ cron: '0 9 13 * fri', timeZone: 'America/New_York' }, '2027-02-11T00:00Z', '2027-02-15T00:00Z', 2],
      [{ cron: '5/25 8-18/5 1-10,20 jan-mar,12 *' }, '2027-01-09T12:00Z', '2027-01-12T00:00Z', 15],
      [{ at: '2028-02-29T08:00', timeZone: 'Asia/Kolkata' }, '2028-02-28T00:00Z', '2028-03-01T00:00Z', 1],
      [{ everyMs: 5_400_000, timeZone: 'Asia/Kolkata' }, '2026-12-31T23:59Z', '2027-01-02T00:00Z', 17],
    ];
    for (const [options, from, to, count] of cases) {
      const { ofServer, own } = await timesOf(on, options, { from, to });
      expect({ options, times: own }).toEqual({ options, times: ofServer });
      expect({ options, count: own.length }).toEqual({ options, count });
    }
    // the server leaves out some times of a night whose hour comes twice
    const { ofServer, own } = await timesOf(
      on,
      { cron: '*/20 0-4 * * *', timeZone: 'Europe/Berlin' },
      { from: '2027-10-30T12:00Z', to: '2027-11-01T12:00Z' },
    );
    expect(ofServer.filter((atMs) => !own.includes(atMs))).toEqual([]);
    expect([own.length, ofServer.length >= 27]).toEqual([33, true]);
  });

  /** The times of a schedule between two others: by the server, and by what checks a start. */
  async function timesOf(on: AgentWorker, options: ScheduleOptions, { from, to }: { readonly from: string; readonly to: string }) {
    const { schedules, name } = await scheduling(on);
    await schedules.create(name, { task: 'x' }, options);
    const { startTime } = await on.client.workflowService.listScheduleMatchingTimes({
      namespace: 'default',
      scheduleId: name,
      startTime: seconds(from),
      endTime: seconds(to),
    });
    const reading = readTimes(options);
    if ('problem' in reading) throw new Error(reading.problem);
    const own: number[] = [];
    for (let atMs = Date.parse(from); atMs <= Date.parse(to); atMs += 60_000) if (isTimeOf(reading.times, atMs)) own.push(atMs);
    return { own, ofServer: startTime.map((time) => Number(time.seconds) * 1_000) };
  }

  it('skips a start while a run is active, and runs what it buffers afterwards', async () => {
    const held = latch();
    const on = await worker({ model: async () => (await held.opened, say('ok')) });
    const skipping = await scheduling(on);
    await skipping.schedules.create(skipping.name, { task: 'x' }, NEW_YEAR);
    const buffering = await scheduling(on);
    await buffering.schedules.create(buffering.name, { task: 'x' }, { ...NEW_YEAR, overlap: 'buffer-all' });
    const [start, end] = [new Date('2020-12-31T12:00Z'), new Date('2023-01-02T00:00Z')];
    await skipping.handle.backfill({ start, end, overlap: 'SKIP' });
    await buffering.handle.backfill({ start, end, overlap: 'BUFFER_ALL' });
    await until(async () => (await skipping.schedules.show(skipping.name)).skipped === 2, 'two skipped starts');
    await until(async () => (await buffering.schedules.show(buffering.name)).running.length === 1, 'the first run');
    expect(await buffering.schedules.show(buffering.name)).toMatchObject({ recent: [{}], waiting: 2, dropped: 0 });
    held.open();
    await until(async () => (await buffering.schedules.show(buffering.name)).recent.length === 3, 'the buffered runs');
    expect((await buffering.schedules.show(buffering.name)).recent.map(({ at }) => at)).toEqual(
      [2021, 2022, 2023].map((year) => `${year}-01-01T00:00:00Z`),
    );
    expect((await skipping.schedules.show(skipping.name)).recent).toHaveLength(1);
  });

  it('sends each start to its session as one message, in order, also when it fires twice, and queued while a run is active', async () => {
    const held = latch();
    const on = await worker({ model: async (request) => (await held.opened, say(`did ${textOf(request.messages[0] ?? NONE)}`)) });
    const { schedules, name, handle } = await scheduling(on);
    const session = await open(on);
    const state = await schedules.create(name, { task: 'report', maxTurns: 3 }, { ...NEW_YEAR, session: session.key });
    expect(state).toMatchObject({ session: session.key, overlap: 'buffer-all', note: `Sends a message to session ${session.key}: report` });
    const [start, end] = [new Date('2020-12-31T12:00Z'), new Date('2022-01-02T00:00Z')];
    await handle.backfill({ start, end, overlap: 'BUFFER_ALL' });
    const ids = [2021, 2022].map((year) => `${name}-${year}-01-01T00:00:00Z`);
    await until(async () => (await schedules.show(name)).recent.length === 2, 'both starts');
    await Promise.all(ids.map((id) => on.client.workflow.getHandle(id).result()));
    expect(await session.query()).toMatchObject({ active: `${session.key}/1`, queued: [{ id: ids[1], mode: 'followup' }] });
    // the server may start the same time again
    await handle.backfill({ start, end, overlap: 'BUFFER_ALL' });
    await until(async () => (await schedules.show(name)).recent.length === 4, 'the repeated starts');
    held.open();
    await session.wait(ids[1]);
    await session.wait();
    expect((await session.query()).runs).toEqual(
      ids.map((id, at) => ({ runId: `${session.key}/${at + 1}`, messageIds: [id], reason: 'completed' })),
    );
    expect(await testRun(on.client.workflow.getHandle(`${session.key}/1`)).result()).toMatchObject({ output: 'did report' });
    const message = on.client.workflow.getHandle(ids[0] ?? '');
    expect(await message.result()).toEqual({ v: 1, session: session.key, messageId: ids[0] });
    expect(await (await on.client.workflow.getHandle(sessionId(session.key)).describe()).staticSummary()).toContain('**session ');
  });

  it('`run` starts the task now: a run to follow, or a message; also of a paused schedule', async () => {
    const on = await worker({ model: () => say('done') });
    const { schedules, client, name } = await scheduling(on);
    await schedules.create(name, { task: 'x' }, NEW_YEAR);
    await schedules.pause(name);
    const started = await schedules.run(name);
    if (!('runId' in started)) throw new Error('no run');
    expect(await client.get(started.runId).result()).toMatchObject({ reason: 'completed', output: 'done' });
    const other = await scheduling(on);
    const session = await open(on);
    await other.schedules.create(other.name, { task: 'x' }, { ...NEW_YEAR, session: session.key });
    const sent = await other.schedules.run(other.name);
    if (!('messageId' in sent)) throw new Error('no message');
    expect(await session.wait(sent.messageId)).toMatchObject({ outcome: 'answered', reason: 'completed' });
  });

  it('lists the schedules of its queue, none of other programs, and changes none of these', async () => {
    const on = await worker({ model: () => say('ok') });
    const { schedules, name } = await scheduling(on);
    await schedules.create(name, { task: 'x' }, NEW_YEAR);
    const foreign = `f-${randomUUID()}`;
    const handle = await on.client.schedule.create({
      scheduleId: foreign,
      spec: { intervals: [{ every: '1d' }] },
      action: { type: 'startWorkflow', workflowType: 'other', taskQueue: on.taskQueue },
      memo: { task: 7 },
    });
    ends.push(() => handle.delete());
    await until(async () => (await schedules.list())[0]?.status === 'active', 'the list');
    expect(await schedules.list()).toMatchObject([{ name, status: 'active', times: 'cron 0 0 1 1 *', timeZone: 'UTC', task: 'x' }]);
    for (const verb of ['show', 'pause', 'resume', 'run', 'delete'] as const)
      await expect(schedules[verb](foreign)).rejects.toMatchObject({ code: 'NO_SCHEDULE', exitCode: 3 });
    expect((await handle.describe()).state.paused).toBe(false);
    await schedules.delete(name);
    await expect(schedules.show(name)).rejects.toMatchObject({ code: 'NO_SCHEDULE' });
  });

  it('bad input is refused with one line before anything is created', async () => {
    const on = await worker({ model: () => say('ok') });
    const { schedules, name } = await scheduling(on);
    const refused = async (code: string, ...[input, options, as = name]: [object, ScheduleOptions, string?]): Promise<void> => {
      await expect(schedules.create(as, input as { task: string }, options)).rejects.toMatchObject({ code, exitCode: 2 });
    };
    await refused('BAD_SCHEDULE', { task: 'x' }, { cron: 'every morning' });
    await refused('BAD_SCHEDULE', { task: 'x' }, { cron: '0 0 30 2 *' });
    await refused('BAD_SCHEDULE', { task: 'x' }, { at: '2020-01-01T08:00' });
    await refused('BAD_SCHEDULE_NAME', { task: 'x' }, NEW_YEAR, 'a/b');
    await refused('BAD_OPTION', { task: 'x' }, { ...NEW_YEAR, catchUpMs: 1_000 });
    await refused('BAD_OPTION', { task: 'x' }, { ...NEW_YEAR, overlap: 'terminate' as never });
    await refused('BAD_OPTION', { task: 'x' }, { ...NEW_YEAR, overlap: 'skip', session: 'k' });
    await refused('BAD_SESSION_ID', { task: 'x' }, { ...NEW_YEAR, session: '../k' });
    await refused('EMPTY_MESSAGE', { task: ' ' }, NEW_YEAR);
    await refused('BAD_OPTION', { task: 'x', messages: [] }, { ...NEW_YEAR, session: 'k' });
    await refused('MESSAGE_TOO_LARGE', { task: 'x'.repeat(300_000) }, NEW_YEAR);
    await expect(schedules.show(name)).rejects.toMatchObject({ code: 'NO_SCHEDULE' });
    await schedules.create(name, { task: 'x' }, NEW_YEAR);
    await expect(schedules.create(name, { task: 'y' }, NEW_YEAR)).rejects.toMatchObject({ code: 'SCHEDULE_EXISTS', exitCode: 4 });
    expect(await schedules.show(name)).toMatchObject({ task: 'x' });
  });

  it('X24: with buffer-all no more starts are made up than the server keeps', () => {
    expect(catchUpOf({ everyMs: 1_000, overlap: 'buffer-all' })).toBe(1_000_000);
    expect(catchUpOf({ everyMs: 1_000, session: 'k' })).toBe(1_000_000);
    expect(catchUpOf({ cron: '*/5 * * * *', overlap: 'buffer-all' })).toBe(3_600_000);
    expect(catchUpOf({ everyMs: 1_000, overlap: 'skip', catchUpMs: 2_592_000_000 })).toBe(2_592_000_000);
    expect(catchUpOf({ at: '08:00', overlap: 'buffer-all', catchUpMs: 2_592_000_000 })).toBe(2_592_000_000);
    expect(() => catchUpOf({ cron: '*/5,7 * * * *', overlap: 'buffer-all', catchUpMs: 2_592_000_000 })).toThrow(
      /at most 1000 starts wait/u,
    );
    expect(() => catchUpOf({ everyMs: 1_000, session: 'k', catchUpMs: 3_600_000 })).toThrow(
      expect.objectContaining({ code: 'BAD_OPTION' }),
    );
    const gaps = ['* * * * *', '0,50 * * * *', '5 8,20 * * *', '0 1,23 * * *', '0 0 13 * fri'].map((cron) => {
      const reading = readTimes({ cron });
      return 'times' in reading ? shortestGapMs(reading.times) / 60_000 : undefined;
    });
    expect(gaps).toEqual([1, 10, 12 * 60, 2 * 60, 24 * 60]);
  });

  it('a message of any client that is not valid fails with a reason, and reaches no session', async () => {
    const on = await worker({ model: () => say('ok') });
    for (const input of [null, 'x', {}, { session: { key: 'k' }, parts: [] }, { session: { key: 'k', x: 1 }, parts: PARTS }]) {
      const handle = await on.client.workflow.start('scheduledMessage', {
        taskQueue: on.taskQueue,
        workflowId: `m-${randomUUID()}`,
        args: [input],
      });
      await expect(handle.result()).rejects.toMatchObject({
        cause: { cause: { type: 'Input.Invalid', message: expect.stringMatching(/^BAD_INPUT /u) } },
      });
    }
    expect(on.requests).toEqual([]);
  });
});

/** The time within which a schedule makes up starts. */
function catchUpOf(options: ScheduleOptions): number {
  return checkSchedule('s', options).catchUpMs;
}

/** A time as the service takes it. */
function seconds(iso: string): never {
  return { seconds: Date.parse(iso) / 1_000 } as never;
}
