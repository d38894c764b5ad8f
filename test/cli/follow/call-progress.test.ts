import { describe, expect, it, vi } from 'vitest';
import { progressText, showCallProgress } from '../../../src/cli/follow/call-progress.js';
import type { RunDescription } from '../../../src/client/runs/describe-run.js';
import { PerdureError } from '../../../src/contracts/perdure-error.js';

describe('the progress of a running call', () => {
  it.each([
    ['step 3 of 10', 'step 3 of 10'],
    ['{"outputBytes":2048,"lastLine":"12 passed"}', '12 passed  (2.0 KiB)'],
    ['{"outputBytes":0,"lastLine":""}', '0 B'],
    ['{"done":3}', '{"done":3}'],
    ['{"outputBytes":2048,"lastLi', '{"outputBytes":2048,"lastLi'],
  ])('%j is shown as %j', (text, shown) => {
    expect(progressText(text)).toBe(shown);
  });

  it('is asked for while a call runs, and a server that is not reachable shows nothing', async () => {
    const stop = new AbortController();
    const shown: (string | undefined)[] = [];
    const pending = [{ activity: 'callTool', attempt: 1, started: true, progress: 'step 3' }];
    const answers = [() => Promise.resolve({ pending } as never), () => Promise.reject(new PerdureError('TEMPORAL_UNREACHABLE', 'x', 5))];
    const describeRun = vi.fn<() => Promise<RunDescription>>(() => answers.shift()?.() ?? Promise.reject(new Error('asked too often')));
    const display = {
      get isCalling() {
        return shown.length < 2;
      },
      setCallProgress(text: string | undefined) {
        shown.push(text);
        if (shown.length === 3) stop.abort();
      },
    };
    await showCallProgress({ describe: describeRun }, display, stop.signal);
    expect({ shown, asked: describeRun.mock.calls.length }).toEqual({ shown: ['step 3', undefined, undefined], asked: 2 });
  });
});
