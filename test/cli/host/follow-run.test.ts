import { describe, expect, it } from 'vitest';
import { PlainDisplay } from '../../../src/cli/display/plain-display.js';
import { followRun } from '../../../src/cli/host/follow-run.js';
import type { RunHandle } from '../../../src/client/run-handle.js';
import type { WatchItem } from '../../../src/client/watch/watch-run.js';
import { collectedOutput } from '../support/collected-output.js';
import { COMPLETED, PROGRESS as RUNNING } from '../support/progress.js';

const PROGRESS: WatchItem = { type: 'progress', progress: RUNNING };
const NO_WORKER: WatchItem = { type: 'notice', code: 'NO_WORKER', message: 'no worker answers' };
const OUTAGE: WatchItem = { type: 'notice', code: 'TEMPORAL_UNREACHABLE', message: 'the server is gone' };
const RESULT: WatchItem = { type: 'result', result: COMPLETED };

describe('followRun without a worker of its own', () => {
  it('gives up on a run that no worker has answered', async () => {
    await expect(follow([NO_WORKER, RESULT])).rejects.toThrow('gave up');
  });

  it.each([
    ['the worker of a running agent is lost', [PROGRESS, NO_WORKER, PROGRESS, RESULT]],
    ['the server is not reachable for a while, and no worker is back yet', [OUTAGE, NO_WORKER, RESULT]],
  ])('A14: waits, with a notice, when %s', async (_, items) => {
    const { code, stdout, stderr } = await follow(items);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'done\n' });
    expect(stderr).toContain('NO_WORKER: no worker answers');
  });
});

async function follow(items: readonly WatchItem[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const { output, texts } = collectedOutput();
  // all that followRun asks of a handle
  const run = {
    runId: 'r',
    async *watch() {
      yield* items;
    },
  } as unknown as RunHandle;
  const context = { output, interrupts: { signal: new AbortController().signal, kind: undefined } };
  const code = await followRun(run, context as never, new PlainDisplay(output), { detachHint: '', onNoWorker });
  return { code, ...texts };
}

function onNoWorker(): never {
  throw new Error('gave up');
}
