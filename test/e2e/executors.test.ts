import { randomUUID } from 'node:crypto';
import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { until } from '../support/use-workers.js';
import { liveProcesses } from '../tools/support/live-processes.js';
import { type PerdureFolder, usePerdureFolders, WAIT_MS_MAX } from './support/perdure-folder.js';

const FIXTURE = fileURLToPath(new URL('fixtures/executors', import.meta.url));

const folder = usePerdureFolders();

test('kill -9 of the worker ends the child with it, and a run whose child cannot resume fails with Executor.Failed', async () => {
  const here = await executorFolder();
  await killInTheMidst(here, 'fragile');
  const { stdout } = await here.start(['watch', 'r1', '--json']).exits(1);
  expect(JSON.parse(stdout)).toMatchObject({
    reason: 'error',
    error: { type: 'Executor.Failed', message: expect.stringContaining('its process is gone'), turn: 2 },
  });
});

test('kill -9 of the worker, and a child that can resume: it is started again, and the run completes', async () => {
  const here = await executorFolder();
  await killInTheMidst(here, 'lasting');
  await release(here);
  const { stdout } = await here.start(['watch', 'r1', '--json']).exits(0);
  expect(JSON.parse(stdout)).toMatchObject({ reason: 'completed', output: 'began with: user assistant tool', turns: 2 });
});

test('kill -9 of the worker before the first answer: the child is started again from its task, as a model is asked again', async () => {
  const here = await executorFolder();
  await killInTheMidst(here, 'slow');
  await release(here);
  const { stdout } = await here.start(['watch', 'r1', '--json']).exits(0);
  expect(JSON.parse(stdout)).toMatchObject({ reason: 'completed', output: 'began with: user', turns: 2 });
});

test('of the keys of the worker the child has the one that its definition names, and none is printed', async () => {
  const canary = `Kanarie${randomUUID()}`;
  const here = await executorFolder({ ANTHROPIC_API_KEY: canary, OPENAI_API_KEY: canary, CHILD_API_KEY: canary });
  await release(here);
  const end = await here.start(['run', 'go', '--agent', 'fragile', '--id', 'r1', '--events']).exits(0);
  expect(end.stdout).toMatch(/child \d+ sees CHILD_KEY HOLD_FILE HOME (?:OLDPWD )?PATH PWD /u);
  expect(end.stdout).not.toMatch(/ANTHROPIC|OPENAI|CHILD_API_KEY/u);
  expect(`${end.stdout}${end.stderr}`).not.toContain(canary);
});

async function executorFolder(env: NodeJS.ProcessEnv = {}): Promise<PerdureFolder> {
  const here = await folder({ CHILD_API_KEY: 'a-key-of-the-child', ...env });
  await cp(FIXTURE, here.dir, { recursive: true });
  await writeFile(holdFile(here), '');
  return here;
}

function holdFile({ root }: PerdureFolder): string {
  return join(root, 'hold');
}

async function release(here: PerdureFolder): Promise<void> {
  await rm(holdFile(here));
}

/** Kills the worker while its child is at work, and waits until the child is gone too. */
async function killInTheMidst(here: PerdureFolder, agent: string): Promise<void> {
  const marker = join(here.dir, 'slow-child.mjs');
  const command = here.start(['run', 'go', '--agent', agent, '--id', 'r1', '--events']);
  await command.prints('child ');
  expect(await liveProcesses(marker)).not.toEqual([]);
  expect((await command.kill('SIGKILL')).signal).toBe('SIGKILL');
  await until(async () => (await liveProcesses(marker)).length === 0, 'the end of the child', WAIT_MS_MAX);
}
