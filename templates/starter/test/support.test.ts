import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

/** The first run on a machine downloads or builds the Temporal server, which takes up to a few minutes. */
const TIMEOUT_MS = 600_000;

test('the agent looks up the order before it answers', { timeout: TIMEOUT_MS }, async () => {
  const result = await run('Where is order 7?');
  expect(result).toMatchObject({ reason: 'completed', toolCalls: 1 });
  expect(result.output).toContain('shipped on 3 May');
});

/** Runs the agent with the recorded answers. Everything but the model is real: Temporal, the worker and the tools. */
async function run(task: string): Promise<{ reason: string; output: string; toolCalls: number }> {
  const state = await mkdtemp(join(tmpdir(), 'support-test-'));
  onTestFinished(() => rm(state, { recursive: true, force: true }));
  const args = ['perdure', 'run', task, '--agent', 'support', '--model', 'scripted/answers.yaml', '--task-queue', 'support-test', '--json'];
  // a server of its own, whatever your shell says
  const env = { ...process.env, PERDURE_DIR: state, TEMPORAL_ADDRESS: '' };
  const { stdout } = await promisify(execFile)('npx', args, { env });
  return JSON.parse(stdout);
}
