import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { currentHolder } from '../../../src/worker/recovery/embedded-worker.js';
import { until } from '../../support/use-workers.js';
import { untilServerEnded } from '../../worker/support/state-dir.js';
import { type PerdureFolder, usePerdureFolders } from '../support/perdure-folder.js';
import { modelEnv, useModels } from '../support/use-models.js';

const folder = usePerdureFolders();
const model = useModels();

test('ten commands started at once in an empty folder share one server and one worker, and leave nothing behind', async () => {
  const wire = await model({ script: { steps: [{ toolCalls: [{ name: 'send_once', args: { name: 'a' } }] }, { text: 'done' }] } });
  const here = await folder(modelEnv(wire));
  await here.hold();
  const runs = Array.from({ length: 10 }, (_, n) => here.start(['run', 'go', '--model', 'openai/test', '--id', `r${n}`, '--json']));
  await here.started('send_once', 10);
  const { serverPid } = await here.server();
  const workers = new Set((await here.effects()).map(({ pid }) => pid));
  expect([...workers]).toEqual([(await currentHolder(here.stateDir))?.pid]);
  expect(await namesIn(here, 'users')).toHaveLength(10);

  await here.release();
  const ends = await Promise.all(runs.map((run) => run.exits(0)));
  expect(ends.map(({ stdout }) => JSON.parse(stdout))).toEqual(
    runs.map((_, n) => expect.objectContaining({ runId: `r${n}`, reason: 'completed', output: 'done' })),
  );
  expect((await here.server()).serverPid).toBe(serverPid);
  expect(await here.startsOf('send_once')).toHaveLength(10);
  expect(wire.requests).toHaveLength(20);

  await untilServerEnded(here.stateDir);
  expect(await processesOf(here)).toEqual([]);
  for (const name of ['users', 'workers', 'server.lock', 'worker.lock']) expect([name, await namesIn(here, name)]).toEqual([name, []]);
});

test('start works in the background until no run is open, and then leaves no process', async () => {
  const wire = await model({ script: { steps: [{ text: 'done' }] } });
  const here = await folder(modelEnv(wire));
  const started = await here.json(['start', 'go', '--model', 'openai/test', '--id', 'r1']);
  expect(started).toMatchObject({ runId: 'r1', executionId: expect.any(String), uiUrl: expect.stringContaining('http://127.') });
  expect(await here.json(['watch', 'r1', '--no-worker'])).toMatchObject({ reason: 'completed', output: 'done' });
  await until(async () => (await namesIn(here, 'background')).length === 0, 'the end of the background process', 40_000);
  await untilServerEnded(here.stateDir);
  await until(async () => (await processesOf(here)).length === 0, 'no process of the folder');
});

async function namesIn(here: PerdureFolder, name: string): Promise<string[]> {
  return await readdir(join(here.stateDir, name));
}

/** Processes that work in the folder, or name it in their command line. */
async function processesOf(here: PerdureFolder): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/u.test(name));
  const facts = await Promise.all(
    pids.map(async (pid) => {
      // a process may end while it is looked at
      const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => '');
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      return { cwd, command: command.replaceAll('\0', ' ') };
    }),
  );
  return facts.filter(({ cwd, command }) => cwd.startsWith(here.root) || command.includes(here.root)).map(({ command }) => command);
}
