import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAuthenticate } from '../../../src/activities/prepare/authenticate.js';
import { hashJson } from '../../../src/contracts/digest.js';
import { signRequest } from '../../../src/contracts/signature.js';
import { firingId, grantFileName } from '../../../src/contracts/text/schedules/firing.js';
import type { ScheduleGrant } from '../../../src/contracts/text/schedules/schedule.js';
import { readTimes } from '../../../src/contracts/text/schedules/times.js';

const KEY = Buffer.alloc(32, 7);
const INPUT = { v: 1, task: 'sweep', context: { workspace: '/srv/app' } };
const MINUTE = 60_000;
/** A whole minute, some minutes ago. */
const AT = Math.floor(Date.now() / MINUTE) * MINUTE - 5 * MINUTE;

async function embedded(change: Partial<ScheduleGrant> = {}, key: Uint8Array = KEY) {
  const folder = await mkdtemp(join(tmpdir(), 'perdure-grants-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const reading = readTimes({ cron: '* * * * *' });
  if ('problem' in reading) throw new Error(reading.problem);
  const grant = { v: 1, name: 'daily', inputHash: hashJson(INPUT), times: reading.times, periods: [{ fromMs: AT - MINUTE }], ...change };
  const file = join(folder, grantFileName('daily'));
  await writeFile(
    file,
    JSON.stringify({ ...grant, auth: signRequest(key, { verb: 'schedule', runId: 'daily', input: grant }, Date.now()) }),
  );
  const authenticate = createAuthenticate({ key: KEY, folder: join(folder, 'signatures'), schedules: folder });
  return {
    file,
    grant,
    start: (runId = firingId({ name: 'daily', atMs: AT }), input: object = INPUT, execution = 'e1') =>
      authenticate({ verb: 'start', runId, input, auth: undefined, use: `start ${runId} ${execution}` }, Date.now()),
  };
}

describe('a start of a schedule that the owner created', () => {
  it('needs no signature, however often the activity is tried; its time counts for one start', async () => {
    const { start } = await embedded();
    expect(await start()).toBeUndefined();
    expect(await start()).toBeUndefined();
    expect(await start(undefined, INPUT, 'e2')).toMatch(/^UNSIGNED: daily-.*Z was started before/u);
  });

  it.each<[what: string, runId: string, input: object, problem: RegExp]>([
    ['another input', firingId({ name: 'daily', atMs: AT }), { ...INPUT, task: 'rm' }, /another input/u],
    ['a time that the schedule does not have', firingId({ name: 'daily', atMs: AT + 1_000 }), INPUT, /has no start at/u],
    ['a time before it was created', firingId({ name: 'daily', atMs: AT - 2 * MINUTE }), INPUT, /was not active at/u],
    ['a time that lies ahead', firingId({ name: 'daily', atMs: AT + 60 * MINUTE }), INPUT, /in the future/u],
    ['a time long ago', firingId({ name: 'daily', atMs: AT - 40 * 86_400_000 }), INPUT, /too long ago/u],
    ['another schedule', firingId({ name: 'nightly', atMs: AT }), INPUT, /has no signature/u],
    ['another run', 'run-1', INPUT, /has no signature/u],
  ])('%s is refused', async (_what, runId, input, problem) => {
    const { start } = await embedded({ periods: [{ fromMs: AT - MINUTE }] });
    expect(await start(runId, input)).toMatch(problem);
    expect(await start(runId, input)).toMatch(/^UNSIGNED: /u);
  });

  it('is refused in a pause, and allowed before and after it', async () => {
    const periods = [{ fromMs: AT - 3 * MINUTE, toMs: AT - MINUTE - 1 }, { fromMs: AT }];
    const { start } = await embedded({ periods });
    expect(await start(firingId({ name: 'daily', atMs: AT - 2 * MINUTE }))).toBeUndefined();
    expect(await start(firingId({ name: 'daily', atMs: AT - MINUTE }))).toMatch(/^UNSIGNED: schedule daily was not active at/u);
    expect(await start(firingId({ name: 'daily', atMs: AT }))).toBeUndefined();
  });

  it('is refused if the grant is of another key, changed, another file, or gone', async () => {
    expect(await (await embedded({}, Buffer.alloc(32, 8))).start()).toMatch(/has no signature/u);
    const { file, grant, start } = await embedded();
    const auth = signRequest(KEY, { verb: 'schedule', runId: 'daily', input: grant }, Date.now());
    for (const text of ['', '[]', 'null', JSON.stringify({ ...grant, inputHash: 'x', auth }), JSON.stringify(grant), '{"v":1}']) {
      await writeFile(file, text);
      expect(await start()).toMatch(/^UNSIGNED: a start .* has no signature/u);
    }
    await rm(file);
    expect(await start()).toMatch(/has no signature/u);
  });
});
