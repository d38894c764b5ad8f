import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  const ran = await Promise.all([1, 2].map(() => promisify(execFile)(process.execPath, ['one.test.mjs'], { cwd: root, env })));
  expect(ran.map(({ stderr }) => stderr)).toEqual(['', '']);
  const results = ran.map(({ stdout }) => JSON.parse(stdout));
  expect(results).toMatchObject([1, 2].map(() => ({ reason: 'completed', effects: [] })));

  const folders = await readdir(shared);
  expect(folders).toHaveLength(1);
  const stateDir = join(shared, folders[0] ?? '');
  const record = await readDevServerRecord(stateDir);
  // the server waits 3 s for further tests: a run of both processes is on it
  const client = await AgentClient.connect({ address: record?.address ?? '' });
  const described = await Promise.all(results.map(async ({ runId }) => await client.get(runId).describe()));
  await client.close();
  expect(described.map(({ status }) => status)).toEqual(['completed', 'completed']);
  await untilServerEnded(stateDir);
});
