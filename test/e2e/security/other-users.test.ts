import { execFile } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { usePerdureFolders } from '../support/perdure-folder.js';
import { modelEnv, useModels } from '../support/use-models.js';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
if (!isRoot) console.warn('not root: the stranger is this user, without the key');

const SENDS = { toolCalls: [{ name: 'send_once', args: { name: 'a' } }] };

/** Runs a program of `test/e2e/fixtures` as another user, who may not see the folder of this project: it is bound to another place. */
async function asStranger(program: string, args: readonly string[]): Promise<string> {
  const node = [process.execPath, join(isRoot ? '/mnt' : process.cwd(), 'test/e2e/fixtures', program), ...args];
  const become = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
  const [file = '', ...rest] = isRoot
    ? ['unshare', '--mount', 'sh', '-c', 'mount --bind "$1" /mnt && shift && exec "$@"', 'sh', process.cwd(), ...become, ...node]
    : node;
  return (await promisify(execFile)(file, rest)).stdout;
}

describe('other users of the machine, at the embedded server', () => {
  const folder = usePerdureFolders();
  const model = useModels();

  it('A3: start no run with a workspace, approve nothing, extend nothing, and repeat nothing that the owner signed', async () => {
    const wire = await model({
      handler: ({ lastUser, lastToolResult }) => (lastUser !== 'send it' ? { text: 'done' } : lastToolResult ? { text: 'sent' } : SENDS),
    });
    const here = await folder(modelEnv(wire));
    await here.start(['run', 'look', '--model', 'openai/test', '--id', 'mine', '--workspace', here.workspace]).exits(0);
    const asking = here.start(['run', 'send it', '--model', 'openai/test', '--id', 'r1', '--agent', 'asking']);
    await asking.prints('decide with: ');
    const [{ callId }] = (await here.json(['approvals', 'r1'])) as [{ callId: string }];
    const { address } = await here.server();
    await chmod(here.root, 0o755);

    const printed = await asStranger('stranger.mjs', [address, join(here.stateDir, 'auth.key'), 'r1', callId, here.workspace]);
    expect(printed.trim().split('\n')).toEqual([
      `user ${isRoot ? NOBODY : process.getuid?.()}`,
      expect.stringMatching(isRoot ? /^key: EACCES/u : /^key: /u),
      expect.stringMatching(/^start: UNSIGNED: a start with a workspace or a child process has no signature$/u),
      expect.stringMatching(/^approve: UNSIGNED: an approval has no signature$/u),
      expect.stringMatching(/^forged: UNSIGNED: an approval has a signature of another key, run or input$/u),
      expect.stringMatching(/^extend: UNSIGNED: an extension has no signature$/u),
      expect.stringMatching(/^again: UNSIGNED: a start with a workspace or a child process has a signature that was used before$/u),
      expect.stringMatching(
        /^renamed: UNSIGNED: a start with a workspace or a child process has a signature of another key, run or input$/u,
      ),
    ]);
    expect(await here.startsOf('send_once')).toEqual([]);

    const run = (await here.client()).get('r1');
    expect(await run.extend({ turns: 5 })).toMatchObject({ maxTurns: 25 });
    await run.approve(callId, { by: 'ann' });
    expect((await asking.exits(0)).stdout).toBe('sent\n');
  });

  it('A3: perdure sign signs for a client of another language, once; dev --open takes unsigned starts and approvals', async () => {
    const wire = await model({ script: { steps: [{ text: 'done' }] } });
    const here = await folder(modelEnv(wire));
    const dev = here.start(['dev']);
    await dev.prints('only you start runs with a workspace and approve calls');
    const input = { task: 'look', model: 'openai/test', context: { workspace: here.workspace } };
    const { stdout } = await here.type(['sign', 'start', 'signed', JSON.stringify(input)]);
    const temporal = await here.temporal();
    const start = (workflowId: string, argument: unknown) =>
      temporal.workflow.execute('agentRun', { taskQueue: 'perdure', workflowId, args: [argument] });
    expect(await start('signed', JSON.parse(stdout))).toMatchObject({ reason: 'completed', output: 'done' });
    await expect(start('unsigned', input)).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/^UNSIGNED: .*'perdure dev --open'/u) },
    });
    expect((await here.type(['sign', 'steer', 'r1', '{}'], 2)).stderr).toContain(
      'BAD_OPTION: "steer": start, send, approve, answer, extend can be signed',
    );
    expect((await here.type(['sign', 'start', 'r1', '[]'], 2)).stderr).toContain('the input must be a JSON object');
    await dev.kill('SIGTERM');

    const open = here.start(['dev', '--open']);
    await open.prints('open: every user of this machine can start runs');
    expect(await start('open', input)).toMatchObject({ reason: 'completed', output: 'done' });
    await open.kill('SIGTERM');
  });

  it('A3: a key that others can read is refused', async () => {
    const here = await folder(modelEnv(await model({ script: { steps: [{ text: 'done' }] } })));
    await here.type(['sign', 'start', 'r1', '{"task":"x"}']);
    await chmod(join(here.stateDir, 'auth.key'), 0o644);
    expect((await here.type(['sign', 'start', 'r1', '{"task":"x"}'], 2)).stderr).toMatch(
      /^AUTH_KEY: .* is open to other users: remove it/mu,
    );
    await writeFile(join(here.stateDir, 'auth.key'), 'none', { mode: 0o600 });
  });
});
