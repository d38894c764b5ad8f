import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import { call, say } from '../../support/agent-worker.js';
import { until, useWorkers } from '../../support/use-workers.js';
import { historySaver } from './save-history.js';

const { save } = historySaver('0.5');

/** A disk of 4 MiB, which is full with a file of that size. */
async function smallDisk() {
  const folder = await mkdtemp(join(tmpdir(), 'perdure-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=700', 'perdure', folder]);
  onTestFinished(() => {
    execFileSync('umount', ['-l', folder]);
    return rm(folder, { recursive: true });
  });
  const filler = join(folder, 'filler');
  return {
    folder,
    fill: () => void execFileSync('sh', ['-c', 'cat /dev/zero > "$1" 2>/dev/null || true', 'sh', filler]),
    free: () => rm(filler, { force: true }),
  };
}

describe('record runs that wait for room on a disk', () => {
  const { worker, start } = useWorkers();

  it('before a call of a tool and before a call of the model, and one that is cancelled in the wait', async () => {
    const disk = await smallDisk();
    const fillDisk = defineTool({
      name: 'fill',
      description: 'Fills the disk.',
      parameters: z.strictObject({}),
      execute: () => {
        disk.fill();
        return 'full';
      },
    });
    const on = await worker({
      identity: 'recorder',
      roomIn: [disk.folder],
      policy: {},
      tools: [fillDisk],
      model: (_, n) => (n === 1 ? call(['fill', {}], ['fill', {}]) : say('done')),
    });
    const run = await start(on);
    const waits = async (phase: string): Promise<boolean> => {
      const { waitingFor, phase: now } = await run.progress();
      return waitingFor?.startsWith('disk full') === true && now === phase;
    };
    await until(() => waits('tools'), 'the wait of the call');
    await disk.free();
    await until(() => waits('model'), 'the wait of the model');
    const cancelled = await start(on);
    await until(async () => (await cancelled.progress()).waitingFor?.startsWith('disk full') === true, 'the wait of the second run');
    await cancelled.handle.signal('cancel');
    await save('room-cancelled', cancelled);
    await disk.free();
    await save('room', run);
  });
});
