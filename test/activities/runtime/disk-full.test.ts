import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createDiskWatch } from '../../../src/artifacts/disk-room.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { checkStateFolder } from '../../../src/worker/self-check.js';
import { announcePresence, livePresences } from '../../../src/worker/state-folder/presence.js';
import { call, say } from '../../support/agent-worker.js';
import { hasOrSays } from '../../support/has-or-says.js';
import { type TestRun, until, useWorkers } from '../../support/use-workers.js';
import { canMount, useSmallDisk } from '../../tools/support/small-disk.js';

const { worker, start } = useWorkers();
const tool = (name: string, execute: (key: string) => Promise<string>) =>
  defineTool({
    name,
    description: name,
    parameters: z.object({}),
    effect: 'once',
    execute: (_, { idempotencyKey }) => execute(idempotencyKey),
  });

test.runIf(hasOrSays(canMount, 'tmpfs for this user'))(
  'a call waits on a full disk where operators see it, starts when there is room, and no effect happens twice',
  async () => {
    const disk = await useSmallDisk();
    const paid: string[] = [];
    const fill = tool('fill', async () => {
      await disk.fill();
      return 'full';
    });
    const pay = tool('pay', async (key) => {
      paid.push(key);
      return 'paid';
    });
    let answers = 0;
    const on = await worker({
      tools: [fill, pay],
      roomIn: [join(disk.folder, 'not-made-yet')],
      model: ({ messages }) => {
        if (JSON.stringify(messages).includes('the later run')) return say('done');
        answers += 1;
        if (answers === 1) return call(['fill', {}], ['pay', {}]);
        return answers === 2 ? call(['pay', {}], ['fill', {}]) : say('done');
      },
    });

    const run = await start(on);
    const full = `disk full: ${disk.folder}/not-made-yet has 0 KiB free, and calls need 40 KiB`;
    await waitsFor(run, full);
    // the call of the tool
    expect(await run.progress()).toMatchObject({ phase: 'tools', tool: expect.stringContaining('pay') });
    expect(paid).toEqual([]);
    expect(await detailsOf(run)).toContain(String.raw`| Waiting for | disk full\: `);
    // a run that starts now waits before it is prepared
    const later = await start(on, { task: 'the later run' });
    await waitsFor(later, full);
    expect(await later.progress()).toMatchObject({ phase: 'preparing' });
    await disk.free();

    // the call of the model
    await until(() => paid.length === 2, 'both payments');
    await waitsFor(run, full);
    expect(await run.progress()).toMatchObject({ phase: 'model' });
    await disk.free();
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'done', turns: 3 });
    expect(new Set(paid).size).toBe(2);
    expect(paid).toHaveLength(2);
    expect(await later.result()).toMatchObject({ reason: 'completed', turns: 1 });
  },
);

test.runIf(hasOrSays(canMount, 'tmpfs for this user'))('a cancel ends the wait, and the call was not started', async () => {
  const disk = await useSmallDisk();
  await disk.fill();
  const on = await worker({ roomIn: [disk.folder], model: () => say('never') });
  const run = await start(on);
  await waitsFor(run, `disk full: ${disk.folder} has 0 KiB free, and calls need 40 KiB`);
  await run.handle.signal('cancel', {});
  expect(await run.result()).toMatchObject({ reason: 'cancelled', turns: 0 });
  expect(on.requests).toEqual([]);
});

test.runIf(hasOrSays(canMount, 'tmpfs for this user'))(
  'a process is present in a folder whose disk has no byte left, so that commands still show its runs',
  async () => {
    const disk = await useSmallDisk();
    await disk.fill();
    const presence = await announcePresence(disk.folder);
    expect(await livePresences(disk.folder)).toEqual([{ name: presence.name, pid: process.pid }]);
    expect(await checkStateFolder(disk.folder)).toMatchObject({
      level: 'fail',
      detail: `disk full: ${disk.folder} has 0 KiB free, and calls need 40 KiB`,
    });
    await presence.remove();
  },
);

async function waitsFor(run: TestRun, reason: string): Promise<void> {
  await until(async () => (await run.progress()).waitingFor === reason, reason);
}

/** What the Web UI shows of the run. */
async function detailsOf({ handle }: TestRun): Promise<string> {
  return (await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata')).currentDetails;
}

test.runIf(hasOrSays(canMount, 'tmpfs for this user'))('a disk that had ample room and becomes full is noticed', async () => {
  // an empty tmpfs takes no memory
  const disk = await useSmallDisk('8g');
  const fullDisk = createDiskWatch([disk.folder]);
  expect(await fullDisk()).toBeUndefined();
  execFileSync('mount', ['-o', 'remount,size=4k', disk.folder]);
  await disk.fill();
  await until(async () => (await fullDisk())?.startsWith('disk full') === true, 'a full disk');
});
