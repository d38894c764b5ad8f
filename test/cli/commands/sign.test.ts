import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createAuthenticate } from '../../../src/activities/prepare/authenticate.js';
import { sign } from '../../../src/cli/commands/sign.js';
import type { CliContext } from '../../../src/cli/host/context.js';
import { AgentClient } from '../../../src/client/agent-client.js';
import { say } from '../../support/agent-worker.js';
import { useWorkers } from '../../support/use-workers.js';

const KEY = Buffer.alloc(32, 7);

/** What the command prints. */
async function signed(verb: string, run: string, input: object): Promise<Record<string, unknown>> {
  let printed = '';
  const output = { stdout: { write: (text: string) => (printed += text) } };
  // the command uses nothing else
  expect(await sign({ verb, run, json: JSON.stringify(input) }, { output } as unknown as CliContext)).toBe(0);
  return JSON.parse(printed) as Record<string, unknown>;
}

describe('perdure sign', { timeout: 60_000 }, () => {
  const { worker } = useWorkers();
  const folders: string[] = [];
  afterEach(async () => {
    vi.unstubAllEnvs();
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
  });

  async function makeFolder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'perdure-sign-'));
    folders.push(folder);
    return folder;
  }

  it('A3: signs a message to a session on a folder for a client of another language; the same message unsigned is dropped', async () => {
    const [stateDir, workspace] = [await makeFolder(), await makeFolder()];
    await mkdir(stateDir, { recursive: true });
    await writeFile(join(stateDir, 'auth.key'), KEY.toString('hex'), { mode: 0o600 });
    vi.stubEnv('PERDURE_DIR', stateDir);
    const on = await worker({
      model: () => say('done'),
      authenticate: createAuthenticate({ key: KEY, folder: join(stateDir, 'signatures') }),
    });
    const key = `s-${randomUUID()}`;
    const workflowId = `session/${key}`;
    const start = await signed('start', workflowId, { v: 1, key, defaults: { context: { workspace } } });
    const message = await signed('send', workflowId, { id: 'm1', text: ' hello\u0000 ' });
    expect(message).toMatchObject({ id: 'm1', auth: expect.stringMatching(/^v1\./u) });
    const signal = async (argument: object) =>
      await on.client.workflow.signalWithStart('agentSession', {
        workflowId,
        taskQueue: on.taskQueue,
        args: [start],
        signal: 'message',
        signalArgs: [argument],
      });
    await signal(message);
    const other = await signed('send', workflowId, { text: 'other' });
    expect(other['id']).toEqual(expect.any(String));
    await signal({ ...other, id: 'm2' });
    await signal({ id: 'm3', text: 'unsigned' });
    const session = (await AgentClient.connect({ connection: on.client.connection, taskQueue: on.taskQueue })).session(key);
    expect(await session.wait('m1')).toMatchObject({ outcome: 'answered', reason: 'completed' });
    for (const id of ['m2', 'm3'])
      expect(await session.wait(id)).toMatchObject({ outcome: 'dropped', reason: expect.stringMatching(/^UNSIGNED: /u) });
    await on.client.workflow.getHandle(workflowId).terminate();
  });

  it('refuses a message that a session would refuse, and a name that is none of a session', async () => {
    vi.stubEnv('PERDURE_DIR', await makeFolder());
    await expect(signed('send', 'session/k', { text: ' ' })).rejects.toMatchObject({ code: 'EMPTY_MESSAGE', exitCode: 2 });
    await expect(signed('send', 'session/k', { text: 'x', other: 1 })).rejects.toMatchObject({ exitCode: 2 });
    await expect(signed('send', 'k', { text: 'x' })).rejects.toMatchObject({
      code: 'BAD_OPTION',
      message: expect.stringContaining('session/KEY'),
    });
    await expect(signed('schedule', 'x', {})).rejects.toMatchObject({ code: 'BAD_OPTION' });
  });
});
