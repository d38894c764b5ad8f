import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { AgentClient } from '../../../src/client/agent-client.js';
import type { RunListItem } from '../../../src/client/runs/list-runs.js';
import { type AgentWorker, type AgentWorkerOptions, call, say, startAgentWorker } from '../../support/agent-worker.js';
import { recorder } from '../../support/tools/recorder.js';
import { CliFolder, type CommandEnd } from '../support/cli.js';
import { commandHere } from '../support/command-here.js';

const SESSION = 'chat-1';

const model: AgentWorkerOptions['model'] = ({ messages }) => (messages.length === 1 ? call(['look', { n: 1 }]) : say('done'));

let worker: AgentWorker;
let agents: AgentClient;
let folder: CliFolder;
const home = process.cwd();

beforeAll(async () => {
  const { tools } = recorder();
  // 10 tokens read and 5 written: two cents
  const priced = await startAgentWorker({ model, tools, price: { input: 1_000, output: 2_000 } });
  agents = await AgentClient.connect({ address: inject('temporalAddress'), taskQueue: priced.taskQueue });
  await runEach([SESSION, SESSION, 'another']);
  await priced.stop();
  worker = await startAgentWorker({ model, tools, taskQueue: priced.taskQueue });
  await runEach(['free', 'free']);
  folder = await CliFolder.make();
  process.chdir(folder.path);
});
afterAll(async () => {
  process.chdir(home);
  await folder.remove();
  await agents.close();
  await worker.stop();
});

/** One run after the other, each of a session. */
async function runEach(sessions: readonly string[]): Promise<void> {
  for (const session of sessions) await (await agents.start({ task: 'look', session })).run.result();
}

function ls(...args: readonly string[]): Promise<CommandEnd> {
  return commandHere('ls', ...args, '--address', inject('temporalAddress'), '--task-queue', worker.taskQueue);
}

describe('ls', { timeout: 60_000 }, () => {
  it('lists runs with their turns and what they cost', async () => {
    await expect
      .poll(async () => (await ls('--closed')).stdout.match(/completed +2 +(?:\$0\.0400|–) /gu)?.length, { timeout: 30_000 })
      .toBe(5);
  });

  it('of a session lists its runs alone, and says what all of them cost together, whatever the limit', async () => {
    await expect
      .poll(() => ls('--session', SESSION, '--limit', '1'), { timeout: 30_000 })
      .toMatchObject({ code: 0, stderr: `session ${SESSION}: 2 runs, 4 turns, $0.0800\n` });
    const { stdout } = await ls('--session', SESSION, '--json');
    expect(JSON.parse(stdout) as RunListItem[]).toMatchObject([SESSION, SESSION].map((session) => ({ session, turns: 2, costUsd: 0.04 })));
  });

  it('runs of unknown price are counted as such', async () => {
    await expect
      .poll(async () => (await ls('--session', 'free')).stderr, { timeout: 30_000 })
      .toBe('session free: 2 runs, 4 turns, $0.0000, without 2 runs of unknown cost\n');
    expect(await agents.sessionCost('free')).toEqual({ session: 'free', runs: 2, turns: 4, costUsd: 0, unpriced: 2 });
  });

  it('a session that there is not, and a name that is none, are told', async () => {
    expect(await ls('--session', 'nobody')).toMatchObject({
      code: 0,
      stderr: 'no runs of session "nobody" found\nsession nobody: 0 runs, 0 turns, $0.0000\n',
    });
    expect(await ls('--session', 'a "quote"')).toMatchObject({ code: 2, stderr: expect.stringMatching(/^BAD_SESSION_ID: /u) });
  });
});
