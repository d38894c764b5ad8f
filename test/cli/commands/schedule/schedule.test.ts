import { randomUUID } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { formatInZone } from '../../../../src/cli/commands/schedule/show.js';
import { CliFolder, type CommandEnd } from '../../support/cli.js';

describe('perdure schedule', () => {
  let folder: CliFolder;
  const place = ['--address', inject('temporalAddress'), '--task-queue', `q-${randomUUID()}`];
  const name = `daily-${randomUUID()}`;
  const created: string[] = [name];
  beforeAll(async () => {
    folder = await CliFolder.make();
  });
  afterAll(async () => {
    for (const made of created) await schedule('delete', made);
    await folder.remove();
  });
  const schedule = (verb: string, ...args: readonly string[]): Promise<CommandEnd> => folder.run(['schedule', verb, ...args, ...place]);

  it('creates a schedule without a worker, and says that its task waits for one', async () => {
    const end = await schedule('create', name, 'sweep', '--cron', '0 8 * * 1-5', '--time-zone', 'Europe/Berlin', '--catch-up', '1d');
    expect(end).toMatchObject({ code: 0, stdout: `${name}\n` });
    expect(end.stderr).toMatch(/^cron 0 8 \* \* 1-5 \(Europe\/Berlin\), next: \d{4}-\d\d-\d\d 08:00:00 Europe\/Berlin$/mu);
    expect(end.stderr).toMatch(/no worker polls queue .*; started tasks wait for one: start it with 'perdure worker'/u);
    expect(await schedule('create', name, 'x', '--at', '08:00')).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/^SCHEDULE_EXISTS: schedule daily-/mu),
    });
  });

  it('shows, lists, pauses, resumes and deletes it', async () => {
    const { stdout } = await schedule('show', name);
    expect(stdout).toMatch(/^status +active$/mu);
    expect(stdout).toMatch(/^times +cron 0 8 \* \* 1-5 \(Europe\/Berlin\)$/mu);
    expect(stdout).toMatch(/^catch-up +1d$/mu);
    expect(await schedule('pause', name, '--note', 'holiday')).toMatchObject({ code: 0, stderr: `schedule ${name} paused\n` });
    expect(JSON.parse((await schedule('show', name, '--json')).stdout)).toMatchObject({ name, status: 'paused', note: 'holiday' });
    expect(await schedule('resume', name, '--json')).toMatchObject({ code: 0, stdout: `${JSON.stringify({ name, resumed: true })}\n` });
    const row = new RegExp(`^${name} +active +cron 0 8 \\* \\* 1-5 +\\d{4}-\\d\\d-\\d\\d 08:00:00 Europe/Berlin +sweep$`, 'mu');
    await expect.poll(async () => (await schedule('ls')).stdout).toMatch(row);
    expect(await schedule('delete', name)).toMatchObject({ code: 0, stderr: `schedule ${name} deleted\n` });
    expect(await schedule('show', name)).toMatchObject({ code: 3, stderr: expect.stringMatching(/^NO_SCHEDULE: /mu) });
  });

  it('runs a task now, and prints the id of the run', async () => {
    const other = `now-${randomUUID()}`;
    created.push(other);
    await schedule('create', other, 'sweep', '--every', '6h', '--overlap', 'buffer-one');
    const { code, stdout, stderr } = await schedule('run', other, '--json');
    expect({ code, started: JSON.parse(stdout) as object }).toMatchObject({
      code: 0,
      started: { runId: expect.stringContaining(`${other}-run-`) },
    });
    const { runId } = JSON.parse(stdout) as { readonly runId: string };
    expect(stderr).toContain(`perdure watch ${runId}`);
    const connection = await Connection.connect({ address: inject('temporalAddress') });
    await connection.workflowService.terminateWorkflowExecution({ namespace: 'default', workflowExecution: { workflowId: runId } });
    await connection.close();
  });

  it.each<[code: string, args: readonly string[]]>([
    ['BAD_SCHEDULE: cron: hour: 0–23', ['n', 'x', '--cron', '0 30 * * *']],
    ['BAD_SCHEDULE: use exactly one of cron, every and at', ['n', 'x']],
    ['BAD_SCHEDULE: time zone: ', ['n', 'x', '--at', '08:00', '--time-zone', 'Mars/Olympus']],
    ['BAD_SCHEDULE: every: ', ['n', 'x', '--every', '10ms']],
    ['BAD_SCHEDULE: at 2020-01-01T00:00 (UTC) never comes', ['n', 'x', '--at', '2020-01-01T00:00', '--time-zone', 'UTC']],
    ['BAD_OPTION: every: a duration such as', ['n', 'x', '--every', 'hour']],
    ['BAD_OPTION: catch-up: 10s to 30d; got 1s', ['n', 'x', '--every', '1h', '--catch-up', '1s']],
    ['BAD_OPTION: overlap: one of skip, ', ['n', 'x', '--every', '1h', '--overlap', 'none']],
    ['BAD_OPTION: overlap: a session answers', ['n', 'x', '--every', '1h', '--overlap', 'skip', '--session', 'k']],
    ['BAD_SCHEDULE_NAME: ', ['a/b', 'x', '--every', '1h']],
    ['EMPTY_MESSAGE: ', ['n', ' ', '--every', '1h']],
    ['WORKSPACE: ', ['n', 'x', '--every', '1h', '--workspace', 'missing']],
  ])('refuses bad input with one line: %s', async (line, args) => {
    const { code, stdout, stderr } = await schedule('create', ...args);
    expect({ code, stdout, lines: stderr.trimEnd().split('\n').length }).toEqual({ code: 2, stdout: '', lines: 1 });
    expect(stderr.startsWith(line) ? line : stderr).toBe(line);
  });

  it('a folder without a server has no schedules, and none is started', async () => {
    expect(await folder.run(['schedule', 'show', 'x'])).toMatchObject({ code: 3, stderr: expect.stringMatching(/^NO_SCHEDULE: /u) });
    expect(await folder.run(['schedule', 'ls', '--json'])).toMatchObject({ code: 0, stdout: '[]\n' });
  });

  it('times are shown in the time zone of the schedule', () => {
    expect(formatInZone('2030-07-31T22:30:00Z', 'Europe/Berlin')).toBe('2030-08-01 00:30:00 Europe/Berlin');
  });
});
