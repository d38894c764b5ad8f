import { NativeConnection, Worker } from '@temporalio/worker';
import { describe, expect, inject, it } from 'vitest';
import { SandboxDefinition } from '../../src/define/worker/sandbox.js';
import { working } from '../../src/process/sandbox/choose-sandbox.js';
import { completeConfig } from '../../src/worker/config/load-config.js';
import { createWorker } from '../../src/worker/create-worker.js';
import { PerdurePlugin } from '../../src/worker/plugin.js';
import { checkSandbox } from '../../src/worker/self-check.js';
import { hasOrSays } from '../support/has-or-says.js';
import { makeStateDir, removeStateDir } from './support/state-dir.js';

const kinds: string[] = [];
for await (const { kind } of working()) kinds.push(kind);

describe('doctor about the sandbox of commands', () => {
  it.runIf(hasOrSays(kinds.length > 0, 'namespaces'))('names the sandbox of this machine and the network of commands', async () => {
    expect(await checkSandbox({ config: {} })).toMatchObject({
      level: 'ok',
      detail: expect.stringMatching(new RegExp(`^(?:ba)?sh in a sandbox of ${kinds[0]}; network: none$`, 'u')),
    });
  });

  it.runIf(hasOrSays(kinds.length > 0, 'namespaces'))('warns of the network of the host, and lists allowed hosts', async () => {
    expect(await checkSandbox({ config: { sandbox: { network: 'host' } } })).toMatchObject({
      level: 'warn',
      detail: expect.stringContaining('commands can reach the Temporal server and every local port'),
    });
    expect(await checkSandbox({ config: { sandbox: { network: { allow: ['a.example.com', '*.b.example.com'] } } } })).toMatchObject({
      level: 'ok',
      detail: expect.stringContaining('network: a.example.com, *.b.example.com'),
    });
  });

  it('warns of commands without a sandbox', async () => {
    expect(await checkSandbox({ config: { sandbox: { mode: 'none' } } })).toMatchObject({
      level: 'warn',
      detail: 'commands run without a sandbox: they can do all that the user of this worker can',
      advice: "remove sandbox.mode 'none' from the config",
    });
  });
});

describe('a mode that the config names and this machine does not have', () => {
  const sandbox = process.platform === 'darwin' ? ({ mode: 'namespaces' } as const) : ({ mode: 'seatbelt' } as const);

  it('keeps the worker from starting: nothing weaker takes its place', async () => {
    const stateDir = await makeStateDir();
    const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
    try {
      const config = { ...completeConfig({ sandbox }, { where: 'test', env: {} }), file: undefined };
      await expect(createWorker({ connection, config, stateDir, taskQueue: `sandbox-${process.pid}` })).rejects.toMatchObject({
        code: 'SANDBOX',
        exitCode: 2,
        message: expect.stringContaining("sandbox: { mode: 'none' }"),
      });
    } finally {
      await connection.close();
      await removeStateDir(stateDir);
    }
  });

  it('keeps the worker of a host with the plugin from starting, and nothing polls', async () => {
    const stateDir = await makeStateDir();
    const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
    const said: string[] = [];
    const pluginFor = (given: SandboxDefinition) => {
      const config = { ...completeConfig({ sandbox: given }, { where: 'test', env: {} }), file: undefined };
      return new PerdurePlugin({ config, stateDir, searchAttributes: [], say: (line) => said.push(line) });
    };
    const workflowBundle = { codePath: inject('workflowBundlePath') };
    const options = { connection, taskQueue: `sandbox-plugin-${process.pid}`, workflowBundle };
    try {
      await expect(Worker.create({ ...options, plugins: [pluginFor(sandbox)] })).rejects.toMatchObject({ code: 'SANDBOX', exitCode: 2 });
      expect(said).toEqual([]);
      const worker = await Worker.create({ ...options, plugins: [pluginFor({ network: 'host' })] });
      expect(said).toEqual([expect.stringContaining('commands can reach')]);
      const running = worker.run();
      worker.shutdown();
      await running;
    } finally {
      await connection.close();
      await removeStateDir(stateDir);
    }
  });

  it('fails the check of doctor', async () => {
    expect(await checkSandbox({ config: { sandbox } })).toMatchObject({ level: 'fail', detail: expect.stringMatching(/^refused: /u) });
  });

  it('a container needs an image, which is no option of the engine', () => {
    expect(SandboxDefinition.safeParse({ mode: 'container', image: 'node:22-slim' }).success).toBe(true);
    for (const bad of [
      { mode: 'container' },
      { image: 'node:22' },
      { mode: 'container', image: '--privileged' },
      { mode: 'container', image: 'a b' },
    ]) {
      expect(SandboxDefinition.safeParse(bad).success).toBe(false);
    }
  });
});
