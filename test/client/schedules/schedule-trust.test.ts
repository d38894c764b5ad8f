import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client, ScheduleClient, ScheduleHandle } from '@temporalio/client';
import { afterEach, describe, expect, it } from 'vitest';
import { AgentClient } from '../../../src/client/agent-client.js';
import { Schedules } from '../../../src/client/schedules/schedules.js';
import { TemporalAccess } from '../../../src/client/temporal/connection.js';
import { firingId, grantFileName } from '../../../src/contracts/text/schedules/firing.js';
import { until, useWorkers } from '../../support/use-workers.js';
import { useOwnedPlaces } from '../../workflows/session/support/owned-place.js';
import { useSessions } from '../../workflows/session/support/sessions.js';

const NEW_YEAR = { cron: '0 0 1 1 *' };
const UNSIGNED = { cause: { type: 'Input.Invalid', message: expect.stringMatching(/^UNSIGNED: /u) } };

describe('A3: a schedule at an embedded server', { timeout: 60_000 }, () => {
  // hooks run in reverse order: the workers write to the folders until they end
  const ownedPlace = useOwnedPlaces();
  const { worker } = useWorkers();
  const { open } = useSessions();
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end().catch(() => undefined);
  });

  /** A worker that asks for signatures, the schedules of its owner and of a stranger, and the input that runs on a folder. */
  async function embedded() {
    const { stateDir, workspace, options } = await ownedPlace();
    const on = await worker(options);
    const place = { connection: on.client.connection, taskQueue: on.taskQueue };
    const [owner, stranger] = [await AgentClient.connect({ ...place, stateDir }), await AgentClient.connect(place)];
    const name = `s-${randomUUID()}`;
    const handle = on.client.schedule.getHandle(name);
    ends.push(() => handle.delete());
    const input = { task: 'sweep', context: { workspace } };
    /** The result of what was started at a time. */
    const resultAt = (atMs: number) => on.client.workflow.getHandle(firingId({ name, atMs })).result();
    return { on, owner: owner.schedules, stranger: stranger.schedules, name, handle, input, stateDir, resultAt };
  }

  it('starts a run on a folder at its times; its input alone starts nothing else', async () => {
    const { on, owner, name, handle, input, stateDir, resultAt } = await embedded();
    await owner.create(name, input, { everyMs: 1_000, overlap: 'allow-all' });
    expect((await stat(join(stateDir, 'schedules', `${name}.json`))).mode & 0o777).toBe(0o600);
    await until(async () => (await owner.show(name)).recent.length > 0, 'the first start');
    const [first] = (await owner.show(name)).recent;
    const firstAt = Date.parse(first?.at ?? '');
    expect(await resultAt(firstAt)).toMatchObject({ reason: 'completed' });
    const requests = (): number => on.requests.length;
    await owner.pause(name);
    const { action } = await handle.describe();
    // stolen: all that the server shows of the schedule
    const steal = async (workflowId: string, change: object = {}) =>
      await (
        await on.client.workflow.start('agentRun', {
          taskQueue: on.taskQueue,
          workflowId,
          workflowIdReusePolicy: 'ALLOW_DUPLICATE',
          args: [{ ...(action.args?.[0] as object), ...change }],
        })
      ).result();
    // a start between the two steps of the pause is refused: it ends without a request
    await Promise.allSettled((await owner.show(name)).recent.map(({ at }) => resultAt(Date.parse(at))));
    const before = requests();
    await expect(steal(`run-${randomUUID()}`)).rejects.toMatchObject(UNSIGNED);
    await expect(steal(firingId({ name, atMs: firstAt - 60_000 }))).rejects.toMatchObject(UNSIGNED);
    await expect(steal(firingId({ name, atMs: firstAt + 3_600_000 }))).rejects.toMatchObject(UNSIGNED);
    await expect(steal(firingId({ name, atMs: firstAt }))).rejects.toMatchObject(UNSIGNED);
    await expect(steal(firingId({ name: 'other', atMs: firstAt }))).rejects.toMatchObject(UNSIGNED);
    await expect(steal(firingId({ name, atMs: firstAt - 1_000 }), { task: 'rm' })).rejects.toMatchObject(UNSIGNED);
    expect(requests()).toBe(before);
  });

  it('starts nothing that another user asks of it: at another time, resumed, changed, or after it was deleted', async () => {
    const { on, owner, stranger, name, handle, input, resultAt } = await embedded();
    await owner.create(name, input, NEW_YEAR);
    const started = async (): Promise<number> => Date.parse((await owner.show(name)).recent.at(-1)?.at ?? '');
    await handle.trigger();
    await until(async () => !Number.isNaN(await started()), 'the start of the Web UI');
    await expect(resultAt(await started())).rejects.toMatchObject(UNSIGNED);
    await handle.backfill({ start: new Date('2025-12-31T00:00Z'), end: new Date('2026-01-02T00:00Z'), overlap: 'ALLOW_ALL' });
    await until(async () => (await started()) === Date.parse('2026-01-01T00:00Z'), 'the start of long ago');
    await expect(resultAt(Date.parse('2026-01-01T00:00Z'))).rejects.toMatchObject(UNSIGNED);
    // a manual start is that of its caller
    const own = await owner.run(name);
    const theirs = await stranger.run(name);
    if (!('runId' in own) || !('runId' in theirs)) throw new Error('no runs');
    expect(await on.client.workflow.getHandle(own.runId).result()).toMatchObject({ reason: 'completed' });
    await expect(on.client.workflow.getHandle(theirs.runId).result()).rejects.toMatchObject(UNSIGNED);
    const { action } = await handle.describe();
    await handle.update((was) => ({
      ...was,
      action: { ...was.action, args: [{ ...(action.args?.[0] as object), task: 'rm' }] } as never,
    }));
    await expect(owner.run(name)).rejects.toMatchObject({ code: 'SCHEDULE_CHANGED', exitCode: 4 });
    await owner.delete(name);
    await stranger.create(name, input, { everyMs: 1_000, overlap: 'allow-all' });
    await until(async () => !Number.isNaN(await started()), 'the start of the copy');
    await expect(resultAt(await started())).rejects.toMatchObject(UNSIGNED);
  });

  it('whose creation was killed before it was signed is paused, and starts once its owner resumes it', async () => {
    const { on, owner, name, input, stateDir, resultAt } = await embedded();
    const killed = new Error('killed');
    const create = async (options: Parameters<ScheduleClient['create']>[0]): Promise<never> => {
      await on.client.schedule.create(options);
      throw killed;
    };
    const times = { everyMs: 1_000, overlap: 'allow-all' } as const;
    await expect(dying(on, stateDir, { create: { value: create } }).create(name, input, times)).rejects.toBe(killed);
    expect(await owner.show(name)).toMatchObject({ status: 'paused', started: 0 });
    // a creation that is refused leaves what the owner allowed
    await expect(owner.create(name, { task: 'other' }, times)).rejects.toMatchObject({ code: 'SCHEDULE_EXISTS' });
    await owner.resume(name);
    const resumedAt = Date.now();
    await until(async () => (await owner.show(name)).recent.some(({ at }) => Date.parse(at) > resumedAt), 'a start after the resume');
    const first = (await owner.show(name)).recent.find(({ at }) => Date.parse(at) > resumedAt);
    expect(await resultAt(Date.parse(first?.at ?? ''))).toMatchObject({ reason: 'completed' });
  });

  it.each(['pause', 'delete'] as const)('whose %s was killed before the server knew it starts nothing more for its owner', async (verb) => {
    const { on, owner, name, input, stateDir, resultAt } = await embedded();
    await owner.create(name, input, { everyMs: 1_000, overlap: 'allow-all' });
    const killed = new Error('killed');
    const handle = Object.create(on.client.schedule.getHandle(name), {
      [verb]: {
        value: async () => {
          throw killed;
        },
      },
    }) as ScheduleHandle;
    await expect(dying(on, stateDir, { getHandle: { value: () => handle } })[verb](name)).rejects.toBe(killed);
    const killedAt = Date.now();
    await until(async () => (await owner.show(name)).recent.some(({ at }) => Date.parse(at) > killedAt), 'a start after the kill');
    const late = (await owner.show(name)).recent.find(({ at }) => Date.parse(at) > killedAt);
    await expect(resultAt(Date.parse(late?.at ?? ''))).rejects.toMatchObject(UNSIGNED);
    await owner[verb](name);
  });

  it('has a file of its own for each name, also where names that differ by case are one file', () => {
    const names = ['daily', 'Daily', 'DAILY', 'd:aily', 'd_aily', 'D:aily', 'x'.repeat(150), 'X'.repeat(150), ':'.repeat(150)];
    const files = names.map((each) => grantFileName(each));
    expect(new Set(files.map((file) => file.toLowerCase())).size).toBe(names.length);
    expect(files[0]).toBe('daily.json');
    for (const file of files) expect(file).toMatch(/^[a-z0-9._%-]{1,240}$/u);
  });

  it('is paused for its owner, also when another user resumes it', async () => {
    const { owner, stranger, name, input, resultAt } = await embedded();
    await owner.create(name, input, { everyMs: 1_000, overlap: 'allow-all' });
    await owner.pause(name);
    await stranger.resume(name);
    const refusedFrom = Date.now();
    await until(async () => (await owner.show(name)).recent.some(({ at }) => Date.parse(at) > refusedFrom), 'a start for the other user');
    const refused = (await owner.show(name)).recent.find(({ at }) => Date.parse(at) > refusedFrom);
    await expect(resultAt(Date.parse(refused?.at ?? ''))).rejects.toMatchObject(UNSIGNED);
    await owner.resume(name);
    const resumedAt = Date.now();
    await until(async () => (await owner.show(name)).recent.some(({ at }) => Date.parse(at) > resumedAt), 'a start after the resume');
    const again = (await owner.show(name)).recent.find(({ at }) => Date.parse(at) > resumedAt);
    expect(await resultAt(Date.parse(again?.at ?? ''))).toMatchObject({ reason: 'completed' });
  });

  it('sends to a session on a folder at its times; another start of it is dropped', async () => {
    const { on, owner, name, handle, input } = await embedded();
    const session = await open(on);
    await owner.create(name, input, { everyMs: 1_000, session: session.key });
    await until(async () => (await owner.show(name)).recent.length > 0, 'the first start');
    await owner.pause(name);
    const [first] = (await owner.show(name)).recent;
    // what the schedule starts sends the message, with which the session begins
    await on.client.workflow.getHandle(first?.id ?? '').result();
    expect(await session.wait(first?.id)).toMatchObject({ outcome: 'answered', reason: 'completed' });
    // a start that is still in work would make the schedule skip the next one
    await until(async () => {
      const { running, waiting } = await owner.show(name);
      return running.length === 0 && waiting === 0;
    }, 'the starts before the pause have ended');
    const before = new Set((await owner.show(name)).recent.map(({ id }) => id));
    // the second of the pause is a time of the schedule, and that of the last start would be the same message
    const pausedAt = Date.now();
    await until(() => Date.now() > pausedAt + 1_000, 'the next second');
    await handle.trigger();
    let triggered = '';
    await until(async () => {
      triggered = (await owner.show(name)).recent.find(({ id }) => !before.has(id))?.id ?? '';
      return triggered !== '';
    }, 'the start of the Web UI');
    expect(await on.client.workflow.getHandle(triggered).result()).toMatchObject({ unsigned: expect.stringMatching(/^UNSIGNED: /u) });
    expect(await session.wait(triggered)).toMatchObject({ outcome: 'dropped', reason: expect.stringMatching(/^UNSIGNED: /u) });
  });
});

/** The schedules of an owner whose process is killed in a call to the server: the calls that are replaced. */
function dying(
  { client, taskQueue }: { readonly client: Client; readonly taskQueue: string },
  stateDir: string,
  replaced: PropertyDescriptorMap,
): Schedules {
  const schedule = Object.create(client.schedule, replaced) as ScheduleClient;
  const access = Object.create(client, { schedule: { value: schedule } }) as Client;
  return new Schedules(new TemporalAccess({ client: access, taskQueue, address: '', tls: false, inputBytesMax: 1_000_000, stateDir }));
}
