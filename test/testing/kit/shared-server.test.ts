import { execFile, type PromiseWithChild } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, inject, onTestFinished, test } from 'vitest';
import { AgentClient } from '../../../src/client/agent-client.js';
import { readDevServerRecord } from '../../../src/worker/dev-server/record.js';
import { removeStateDir, untilServerEnded } from '../../worker/support/state-dir.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const PROGRAM = `
  import { testAgent } from 'perdure/testing';
  const { result, effects } = await testAgent({ script: { steps: [{ text: 'hello' }] }, task: 'Say hello.', say: () => undefined });
  console.log(JSON.stringify({ runId: result.runId, reason: result.reason, effects }));
  for await (const _ of process.stdin); // the server stops after its last process
`;

test('D2: test files that run at the same time in processes of their own share one server, which ends after them', async () => {
  const root = await mkdtemp(join(tmpdir(), 'perdure-shared-'));
  await mkdir(join(root, 'node_modules'));
  await symlink(ROOT, join(root, 'node_modules', 'perdure'));
  await writeFile(join(root, 'one.test.mjs'), PROGRAM);
  const env = {
    PATH: process.env['PATH'],
    HOME: root,
    PERDURE_TEMPORAL_BIN: inject('temporalBinary'),
    // a server of the shell is not used, and neither is its key
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    OPENAI_API_KEY: 'of the shell',
  };
  const shared = join(root, '.cache', 'perdure', 'test');
  onTestFinished(async () => {
    for (const name of await readdir(shared)) await removeStateDir(join(shared, name));
    await rm(root, { recursive: true, force: true });
  });
  const running = [1, 2].map(() => promisify(execFile)(process.execPath, ['one.test.mjs'], { cwd: root, env }));
  onTestFinished(() => {
    for (const { child } of running) child.kill('SIGKILL');
  });
  const results = (await Promise.all(running.map(firstLine))).map((line) => JSON.parse(line));
  expect(results).toMatchObject([1, 2].map(() => ({ reason: 'completed', effects: [] })));

  const folders = await readdir(shared);
  expect(folders).toHaveLength(1);
  const stateDir = join(shared, folders[0] ?? '');
  const record = await readDevServerRecord(stateDir);
  // a run of both processes is on it
  const client = await AgentClient.connect({ address: record?.address ?? '' });
  const described = await Promise.all(results.map(async ({ runId }) => await client.get(runId).describe()));
  await client.close();
  expect(described.map(({ status }) => status)).toEqual(['completed', 'completed']);

  for (const { child } of running) child.stdin?.end();
  expect((await Promise.all(running)).map(({ stderr }) => stderr)).toEqual(['', '']);
  await untilServerEnded(stateDir);
});

/** The first line that a process prints. Rejects if it ends before. */
async function firstLine(running: PromiseWithChild<unknown>): Promise<string> {
  const { stdout } = running.child;
  if (!stdout) throw new Error('its output is not piped');
  const lines = createInterface({ input: stdout });
  const ended = running.then(() => {
    throw new Error('it ended without a line');
  });
  const [line] = await Promise.race([once(lines, 'line'), ended]);
  return line;
}
