import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NativeConnection } from '@temporalio/worker';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { toolCallsOf } from '../../../src/contracts/message-text.js';
import { BackgroundCommands } from '../../../src/tools/commands/background-commands.js';
import { createCommandOutput } from '../../../src/tools/commands/command-output.js';
import { createStartCommand } from '../../../src/tools/commands/start-command.js';
import { sweepCommands } from '../../../src/worker/hosting/sweep-commands.js';
import { type AgentWorker, call, say } from '../../support/agent-worker.js';
import { builtFolder } from '../../support/built-package.js';
import { latch, type TestRun, until, untilAborted, useWorkers } from '../../support/use-workers.js';
import { liveProcesses } from '../../tools/support/live-processes.js';
import { resultTexts } from '../support/result-texts.js';

const command = (marker: string): string => `(trap '' TERM; exec -a ${marker} sleep 300) & echo begun; wait`;

describe('the background commands of a run', () => {
  const { worker, start } = useWorkers();

  it.each<[how: string, end: (run: TestRun, held: ReturnType<typeof latch>) => Promise<unknown>, reason: string]>([
    ['completes', (_, held) => Promise.resolve(held.open()), 'completed'],
    ['is cancelled', (run) => run.handle.signal('cancel'), 'cancelled'],
    ['fails', (_, held) => Promise.resolve(held.open()), 'error'],
  ])('end when the run %s', async (how, end, reason) => {
    const on = await place();
    const held = latch();
    const serving = await serve(on, async (n, _, signal) => {
      if (n === 1) return call(['start_command', { command: command(on.marker), name: 'web' }]);
      await Promise.race([held.opened, untilAborted(signal)]);
      if (how === 'fails') throw new Error('the model is broken');
      return say('done');
    });
    const run = await start(serving, { context: { workspace: on.workspace } });
    await until(async () => (await liveProcesses(on.marker)).length > 0, 'the command');
    await until(() => serving.requests.length === 2, 'the second request');
    await end(run, held);
    await run.result().catch(() => undefined);
    held.open();
    expect((await run.events()).at(-1)).toMatchObject({ type: 'run.ended', reason });
    await until(async () => (await liveProcesses(on.marker)).length === 0, 'the end of the processes');
  });

  it('go on over continue-as-new', async () => {
    const on = await place();
    const serving = await serve(on, (n) =>
      Promise.resolve(
        n === 1
          ? call(['start_command', { command: command(on.marker), name: 'web' }])
          : n <= 6
            ? call(['command_output', { id: 'web', after: n }])
            : say('done'),
      ),
    );
    const run = await start(serving, { context: { workspace: on.workspace }, bounds: { continueAsNewEvents: 40 } });
    expect(await run.result()).toMatchObject({ reason: 'completed', toolCalls: 6 });
    expect((await run.events()).some(({ type }) => type === 'continued')).toBe(true);
    expect(resultTexts(await run.messages()).filter((text) => text.includes('running for'))).toHaveLength(6);
    await until(async () => (await liveProcesses(on.marker)).length === 0, 'the end of the processes');
  });

  it('of a run that is terminated are ended by a worker of the host, and those of other runs are not', async () => {
    const on = await place();
    const markers = [`${on.marker}-a`, `${on.marker}-b`];
    const held = latch();
    const serving = await serve(on, async (_, task, signal) => {
      const marker = task.includes(' b') ? markers[1] : markers[0];
      if (!task.includes('begun')) return call(['start_command', { command: command(marker ?? ''), name: 'web' }]);
      await Promise.race([held.opened, untilAborted(signal)]);
      return say('done');
    });
    const [a, b] = [
      await start(serving, { task: 'run a', context: { workspace: on.workspace } }),
      await start(serving, { task: 'run b', context: { workspace: on.workspace } }),
    ];
    await until(async () => (await Promise.all(markers.map(liveProcesses))).every((pids) => pids.length > 0), 'both commands');
    await a.handle.terminate('an operator');
    const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
    let isNeeded = true;
    const said: string[] = [];
    const sweeping = sweepCommands({
      commands: on.commands,
      connection,
      namespace: 'default',
      isNeeded: () => isNeeded,
      say: (line) => said.push(line),
      everyMs: 100,
    });
    await until(async () => (await liveProcesses(markers[0] ?? '')).length === 0, 'the end of the first command');
    expect((await liveProcesses(markers[1] ?? '')).length).toBeGreaterThan(0);
    held.open();
    expect(await b.result()).toMatchObject({ reason: 'completed' });
    await until(async () => (await liveProcesses(on.marker)).length === 0, 'the end of the processes');
    isNeeded = false;
    await sweeping;
    await connection.close();
    expect(said).toEqual([]);
  });

  async function serve(
    { commands }: { readonly commands: BackgroundCommands },
    model: (n: number, messages: string, signal: AbortSignal) => Promise<ReturnType<typeof say>>,
  ): Promise<AgentWorker> {
    const sandbox = { sandbox: {}, protected: [], background: commands };
    return await worker({
      model: ({ messages, signal }) => model(messages.flatMap(toolCallsOf).length + 1, JSON.stringify(messages), signal),
      tools: [createStartCommand(sandbox), createCommandOutput(commands)],
      background: commands,
      policy: {},
    });
  }
});

/** A workspace, and the commands of a state folder of its own. */
async function place() {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'perdure-commands-')));
  onTestFinished(() => rm(base, { recursive: true, force: true }));
  const program = join(builtFolder(), 'tools/commands/holder.js');
  const [stateDir, workspace] = [join(base, 'state'), join(base, 'workspace')];
  await mkdir(workspace);
  const commands = new BackgroundCommands({ stateDir, folder: join(stateDir, 'commands'), program });
  onTestFinished(() => commands.sweep(() => Promise.resolve('over')));
  return { workspace, commands, marker: `of-run-${randomUUID()}` };
}
