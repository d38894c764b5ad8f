import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { livePresences } from '../../../src/worker/state-folder/presence.js';
import { CliFolder } from '../support/cli.js';

let folder: CliFolder;
beforeEach(async () => {
  folder = await CliFolder.make();
  await writeFile(join(folder.path, 'two.yaml'), 'steps: [{ text: "one" }, { text: "heard {{lastUser}}" }]');
  await writeFile(join(folder.path, 'slow.yaml'), 'steps: [{ text: "late", delayMs: 600000 }]');
});
afterEach(() => folder.remove());

/** The background processes of the folder. */
const background = (): Promise<number[]> =>
  livePresences(join(folder.path, '.perdure', 'background')).then((presences) => presences.map(({ pid }) => pid));

/** Ends the background process as its hint says, and waits until it has gone. */
async function endBackground(): Promise<void> {
  for (const pid of await background()) process.kill(pid, 'SIGTERM');
  await vi.waitFor(async () => expect(await background()).toEqual([]), { timeout: 30_000, interval: 50 });
}

describe('work in the background', { timeout: 180_000 }, () => {
  it('start comes back with ids and hints, and the run ends without a command that watches it', async () => {
    const args = ['start', 'go', '--model', 'scripted/two.yaml', '--id', 'r1'];
    const started = await folder.run([...args, '--json']);
    expect(JSON.parse(started.stdout)).toEqual({
      runId: 'r1',
      executionId: expect.stringMatching(/^[0-9a-f-]{36}$/u),
      uiUrl: expect.stringMatching(/^http:\/\/127\.[\d.]+:\d+\/namespaces\/default\/workflows\/r1$/u),
    });
    const pid = Number(/stop it with: kill (\d+)/u.exec(started.stderr)?.[1]);
    expect(await background()).toEqual([pid]);

    const watched = await folder.run(['watch', 'r1', '--no-worker']);
    expect(watched).toMatchObject({ code: 0, stdout: 'one\n' });
    expect(await folder.run(args)).toMatchObject({
      code: 0,
      stdout: 'r1\n',
      stderr: expect.stringContaining('already exists with the same input'),
    });
    expect(await folder.run(['start', 'other', '--id', 'r1', '--model', 'scripted/two.yaml'])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('RUN_EXISTS: '),
    });
    expect((await background()).filter((other) => other !== pid)).toEqual([]);

    const continued = await folder.run(['continue', 'r1', 'and now?', '--json']);
    expect(JSON.parse(continued.stdout)).toMatchObject({ runId: 'r1.2', reason: 'completed', output: 'heard and now?' });
    const listed: unknown = JSON.parse((await folder.run(['ls', '--json'])).stdout);
    expect(listed).toMatchObject([{ runId: 'r1.2' }, { runId: 'r1', status: 'completed', task: 'go', model: 'scripted/two.yaml' }]);
    await endBackground();
  });

  it('a run without a worker is shown as Temporal knows it; cancel sees to it that the run heeds it', async () => {
    const run = folder.start(['run', 'go', '--model', 'scripted/slow.yaml', '--id', 'r1']);
    await run.saw('turn 1');
    expect(await folder.run(['continue', 'r1'])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('RUN_OPEN: run r1 has not ended'),
    });
    run.child.kill('SIGKILL');
    await run.ended;

    const shown = await folder.run(['show', 'r1', '--json']);
    expect(shown).toMatchObject({ code: 0, stderr: expect.stringMatching(/^NO_WORKER: /mu) });
    expect(JSON.parse(shown.stdout)).toMatchObject({
      progress: null,
      run: { runId: 'r1', open: true, pending: [{ activity: 'callModel' }] },
    });
    expect((await folder.run(['doctor'])).stdout).toMatch(/^warn {2}worker: no worker polls queue perdure, but runs are open; /mu);

    const cancelled = await folder.run(['cancel', 'r1', '--reason', 'enough']);
    expect(cancelled).toMatchObject({ code: 0, stderr: expect.stringContaining('continues the run in the background') });
    const watched = await folder.run(['watch', 'r1', '--no-worker', '--json']);
    expect(JSON.parse(watched.stdout)).toMatchObject({ reason: 'cancelled', turns: 1 });
    expect(watched.code).toBe(130);
    expect(await folder.run(['cancel', 'r1'])).toMatchObject({ code: 0, stderr: 'r1: already cancelled\n' });
    const closed = await folder.run(['steer', 'r1', 'hello']);
    expect(closed).toMatchObject({ code: 4, stderr: expect.stringMatching(/^RUN_CLOSED: run r1 is cancelled; .*perdure continue r1/u) });
    await endBackground();
  });
});

describe('work in the background that cannot begin', { timeout: 60_000 }, () => {
  it('the command says why; what it asked of the run is kept', async () => {
    const run = await folder.run(['run', 'go', '--id', 'r1', '--model', 'scripted/two.yaml', '--no-worker']);
    expect(run).toMatchObject({ code: 5, stderr: expect.stringContaining('run r1 is kept') });
    await writeFile(join(folder.path, 'perdure.config.json'), '{"modle": "x"}');
    const steered = await folder.run(['steer', 'r1', 'hello']);
    expect(steered).toMatchObject({ code: 1, stderr: expect.stringMatching(/^BACKGROUND_FAILED: CONFIG: .*modle.*; the run is kept$/mu) });
    await rm(join(folder.path, 'perdure.config.json'));
    const watched = await folder.run(['watch', 'r1', '--json']);
    expect(JSON.parse(watched.stdout)).toMatchObject({ reason: 'completed', unconsumed: [] });
    expect(watched.stderr).toMatch(/message \S+ delivered in turn 1/u);
  });
});

describe('doctor', { timeout: 60_000 }, () => {
  it('says of each thing how it is and what to do, by name and never by value of a key', async () => {
    const end = await folder.run(['doctor', '--workspace', '.'], { OPENAI_API_KEY: 'sk-planted-secret-value' });
    expect(end.code).toBe(0);
    for (const name of ['node', 'config', 'model', 'run_command', 'workspace', 'server binary', 'server']) {
      expect(end.stdout).toMatch(new RegExp(`^(ok|warn) +${name}: `, 'mu'));
    }
    expect(end.stdout).toContain('OPENAI_API_KEY');
    expect(end.stdout + end.stderr).not.toContain('planted-secret');
  });

  it('a broken config is a failure, told with its code, and the rest is looked at all the same', async () => {
    await writeFile(join(folder.path, 'perdure.config.json'), '{"modle": "x"}');
    const end = await folder.run(['doctor', '--json']);
    expect(end.code).toBe(1);
    const checks: unknown = JSON.parse(end.stdout);
    expect(checks).toContainEqual({ level: 'fail', name: 'config', detail: expect.stringMatching(/^CONFIG: .*modle/u) });
    expect(checks).toContainEqual(expect.objectContaining({ name: 'server' }));
  });
});
