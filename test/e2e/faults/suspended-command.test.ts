import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { usePerdureFolders } from '../support/perdure-folder.js';
import { messagesOf } from '../support/request-messages.js';
import { modelEnv, useModels } from '../support/use-models.js';

/** Longer than the heartbeat timeouts of shared servers. */
const SUSPENDED_MS = 65_000;

const folder = usePerdureFolders();
const model = useModels();

test('A6: a command that is suspended for a minute (Ctrl-Z) loses no call: its `once` tool runs once, and its result is known', async () => {
  const wire = await model({ script: { steps: [{ toolCalls: [{ name: 'send_once', args: { name: 'a' } }] }, { text: 'done' }] } });
  const here = await folder(modelEnv(wire));
  await here.hold();
  const command = here.start(['run', 'go', '--model', 'openai/test', '--json']);
  await here.started('send_once');
  command.child.kill('SIGSTOP');
  await pause(SUSPENDED_MS);
  await here.release();
  command.child.kill('SIGCONT');
  const { stdout } = await command.exits(0);
  expect(JSON.parse(stdout)).toMatchObject({ reason: 'completed', output: 'done', turns: 2 });
  expect(JSON.parse(stdout).unknownOutcomes ?? 0).toBe(0);
  expect(await here.startsOf('send_once')).toHaveLength(1);
  expect(JSON.stringify(messagesOf(wire.requests[1]))).toContain('send_once a done');
});
