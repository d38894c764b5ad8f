import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type CommandSandbox, commandSandbox, processGroupSandbox } from '../../../src/process/command-sandbox.js';
import { ExecutorProcess } from '../../../src/providers/executor/process.js';
import { until } from '../../support/use-workers.js';
import { liveProcesses } from '../../tools/support/live-processes.js';
import { childArgs } from '../support/executor-child.js';

/** The strongest sandbox of this machine, and the one that every machine has. */
const SANDBOXES: readonly (readonly [name: string, make: () => Promise<CommandSandbox>])[] = [
  ['the strongest sandbox here', commandSandbox],
  ['a process group', processGroupSandbox],
];

describe.each(SANDBOXES)('ExecutorProcess in %s', (_name, make) => {
  test('lines go in and out, and the error output is apart from them', async () => {
    const { child } = await start(make, `console.error('aside'); say({ type: 'final', text: (await next()).text }); await next();`);
    await child.send({ type: 'message', text: 'hello' });
    expect(await child.receive()).toEqual({ type: 'final', text: 'hello' });
    await until(() => child.failed('why').message === 'agent crew: why; stderr: aside', 'the error output');
  });

  test('the end of its input ends one that reads to the end', async () => {
    const { child, marker } = await start(
      make,
      `for (let line = await next(); line?.type !== 'cancel'; line = await next()); process.exit(0);`,
    );
    await child.end();
    expect(child.leftWith).toBeUndefined();
    expect(await liveProcesses(marker)).toEqual([]);
  });

  test('one that ignores everything is killed with what it started, and may be ended twice', async () => {
    const { child, marker } = await start(
      make,
      `process.on('SIGTERM', () => undefined);
       require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)', MARKER], { stdio: 'ignore' });
       say({ type: 'text', text: 'begun' });
       await wait();`,
    );
    await child.receive();
    await Promise.all([child.end(), child.end()]);
    expect(await liveProcesses(marker)).toEqual([]);
  });

  test('what it left behind when it ended is gone with it', async () => {
    const { child, marker } = await start(
      make,
      `require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)', MARKER], { stdio: 'inherit' });
       process.exit(4);`,
    );
    await expect(child.receive()).rejects.toThrow('agent crew: it ended with exit code 4 before it answered');
    expect(child.leftWith).toBe(4);
    expect(await liveProcesses(marker)).toEqual([]);
  });
});

async function start(make: () => Promise<CommandSandbox>, body: string): Promise<{ child: ExecutorProcess; marker: string }> {
  const marker = `process-${randomUUID()}`;
  const child = await ExecutorProcess.start({
    agent: 'crew',
    command: process.execPath,
    args: childArgs(`const MARKER = '${marker}';\n${body}`),
    environment: { variables: { PATH: process.env['PATH'] ?? '' }, redact: (text) => text },
    sandbox: await make(),
    cwd: process.cwd(),
  });
  onTestFinished(() => child.end());
  return { child, marker };
}
