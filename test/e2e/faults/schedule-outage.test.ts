import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ScheduleState } from '../../../src/client/schedules/describe-schedule.js';
import { until } from '../../support/use-workers.js';
import { usePerdureFolders, WAIT_MS_MAX } from '../support/perdure-folder.js';

const EVERY_MS = 2_000;

describe('a schedule whose server and worker are killed', () => {
  const folder = usePerdureFolders();

  it('makes up each start of the outage once: as a run on a folder, and as a message to a session, in order', async () => {
    const here = await folder();
    await writeFile(join(here.dir, 'answers.json'), JSON.stringify({ steps: [{ text: 'swept' }], loop: true }));
    const killed = here.start(['dev']);
    await killed.prints('worker');
    const times = ['--every', '2s', '--catch-up', '30m', '--model', 'scripted/answers.json', '--workspace', here.workspace];
    await here.type(['schedule', 'create', 'runs', 'sweep', ...times, '--overlap', 'allow-all']);
    await here.type(['schedule', 'create', 'talks', 'sweep', ...times, '--session', 'talk']);
    const show = async (name: string) => (await here.json(['schedule', 'show', name])) as ScheduleState;
    await until(async () => (await show('talks')).recent.length > 0 && (await show('runs')).recent.length > 0, 'a start', WAIT_MS_MAX);

    const { serverPid, keeperPid } = await here.server();
    process.kill(keeperPid, 'SIGKILL');
    process.kill(serverPid, 'SIGKILL');
    await killed.kill('SIGKILL');
    const downAt = Date.now();
    await until(() => Date.now() > downAt + 3 * EVERY_MS, 'an outage over two times');
    const upAt = Date.now();
    const again = here.start(['dev']);
    await again.prints('worker');
    const isOver = ({ recent }: ScheduleState): boolean => Date.parse(recent.at(-1)?.at ?? '') > upAt;
    await until(async () => isOver(await show('runs')) && isOver(await show('talks')), 'a start after the outage', WAIT_MS_MAX);
    for (const name of ['runs', 'talks']) await here.type(['schedule', 'pause', name]);

    const runs = await here.client();
    const started = async () => (await runs.list({ limit: 1_000 })).filter(({ runId }) => runId.startsWith('runs-'));
    const { started: count, missed, createdAt } = await show('runs');
    await until(async () => (await started()).filter(({ status }) => status === 'completed').length === count, 'all runs', WAIT_MS_MAX);
    const ats = (await started()).map(({ runId }) => Date.parse(runId.slice('runs-'.length))).toSorted((a, b) => a - b);
    expect(missed).toBe(0);
    expect(ats.filter((at) => at > downAt && at < upAt).length).toBeGreaterThanOrEqual(2);
    expect(ats).toEqual(ats.map((_, n) => (ats[0] ?? 0) + n * EVERY_MS));
    expect(ats[0]).toBeGreaterThan(Date.parse(createdAt) - EVERY_MS);

    const last = (await show('talks')).recent.at(-1)?.id ?? '';
    const session = runs.session('talk');
    expect(await session.wait(last, { timeoutMs: WAIT_MS_MAX })).toMatchObject({ outcome: 'answered', reason: 'completed' });
    const { runs: answered, dropped } = await session.query();
    expect({ dropped, others: answered.filter(({ reason }) => reason !== 'completed') }).toEqual({ dropped: [], others: [] });
    const messages = answered.flatMap(({ messageIds }) => messageIds).map((id) => Date.parse(id.slice('talks-'.length)));
    expect(messages.filter((at) => at > downAt && at < upAt).length).toBeGreaterThanOrEqual(2);
    expect(messages).toEqual(messages.map((_, n) => (messages[0] ?? 0) + n * EVERY_MS));
    await again.kill('SIGTERM');
  });
});
