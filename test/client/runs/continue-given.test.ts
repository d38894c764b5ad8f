import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NativeConnection, type Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { AgentClient } from '../../../src/client/agent-client.js';
import type { RunHandle } from '../../../src/client/run-handle.js';
import { textOf } from '../../../src/contracts/message-text.js';
import type { GivenMessage } from '../../../src/contracts/schemas/message.js';
import { loadConfig } from '../../../src/worker/config/load-config.js';
import { createAgentActivities } from '../../../src/worker/create-worker.js';
import { createTestWorker } from '../../support/test-worker.js';

const system = (text: string): GivenMessage => ({ role: 'system', parts: [{ type: 'text', text }] });

let folder: string;
let nativeConnection: NativeConnection;
let worker: Worker;
let running: Promise<void>;
let agents: AgentClient;

/** A worker that prepares runs as in production. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'perdure-continue-'));
  const script = join(folder, 'script.yaml');
  const tries = [1, 2, 3, 4].map((n) => ({ toolCalls: [{ name: 'nothing', args: { n } }] }));
  await writeFile(script, JSON.stringify({ steps: [...tries, { text: 'done' }], whenEnded: { text: 'done again' } }));
  const agent = { description: 'Tries things.', prompt: 'You try things.' };
  await writeFile(
    join(folder, 'perdure.config.json'),
    JSON.stringify({ model: `scripted/${script}`, agents: { default: agent, refuser: { ...agent, model: 'openai/m' } } }),
  );
  const address = inject('temporalAddress');
  const taskQueue = `continue-${randomUUID()}`;
  nativeConnection = await NativeConnection.connect({ address });
  worker = await createTestWorker({
    connection: nativeConnection,
    taskQueue,
    workflowBundle: { codePath: inject('workflowBundlePath') },
    activities: createAgentActivities({
      config: await loadConfig({ cwd: folder, env: { XDG_CACHE_HOME: folder } }),
      stateDir: folder,
      searchAttributes: [],
    }),
  });
  running = worker.run();
  agents = await AgentClient.connect({ address, taskQueue });
});
afterAll(async () => {
  await agents.close();
  worker.shutdown();
  await running;
  await nativeConnection.close();
  await rm(folder, { recursive: true, force: true });
});

async function ended(run: RunHandle): Promise<RunHandle> {
  await run.result();
  return run;
}

it('what given system messages say stands in the prompt of every run that goes on, once and in its place', async () => {
  const messages: GivenMessage[] = [
    system('You are terse.'),
    { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'look' }] },
    system('Answer in German. 😀'),
    { id: 'a1', role: 'assistant', parts: [{ type: 'text', text: 'Gesehen.' }] },
  ];
  const input = { task: 'try', messages, context: { variables: { mood: 'calm' } }, bounds: { continueAsNewEvents: 20 } };
  const { run: first, executionId } = await agents.start(input);
  await ended(first);
  // it went on in a fresh history, which is not given what it began with
  expect((await first.describe()).executionId).not.toBe(executionId);
  const second = await ended((await first.continue()).run);
  const third = await ended((await second.continue()).run);
  const { prompt } = await first.setup();
  expect(prompt).toBe('You try things.\n\nYou are terse.\n\nAnswer in German. 😀\n\nmood: calm');
  expect([(await second.setup()).prompt, (await third.setup()).prompt]).toEqual([prompt, prompt]);
  const texts: string[] = [];
  for await (const page of third.transcript()) texts.push(...page.messages.map(textOf));
  expect(texts.join('\n')).not.toContain('terse');
});

it('a run that could not begin is gone on from all the same', async () => {
  const { run } = await agents.start({ task: 'try', agent: 'refuser', messages: [system('You are terse.')] });
  await expect(run.result()).resolves.toMatchObject({ reason: 'error', error: { type: 'Input.NoModel' } });
  const next = await run.continue();
  expect(next.run.runId).toBe(`${run.runId}.2`);
  await ended(next.run);
});
