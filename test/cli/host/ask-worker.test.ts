import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { askWorker, startBackground } from '../../../src/cli/host/ask-worker.js';
import { announceBackground, type Background } from '../../../src/cli/host/background.js';
import type { Place } from '../../../src/cli/host/workplace.js';
import { PerdureError } from '../../../src/contracts/perdure-error.js';
import { useTempFolder } from '../../support/temp-folder.js';

const folder = useTempFolder('perdure-ask-');
const NO_WORKER = new PerdureError('NO_WORKER', 'no worker polls queue perdure', 5);

/** A place of which these tests use nothing else. */
function placeOf(kind: 'embedded' | 'configured', hasWorker = false): Place {
  return { location: { kind }, stateDir: folder.path, hasWorker: async () => hasWorker } as unknown as Place;
}

/** Requests of 20 s each on a clock that only they move. So many fail, then one gets the number of requests. */
function answersAfter(failures: number, error: Error = NO_WORKER) {
  let asked = 0;
  return async (): Promise<number> => {
    asked += 1;
    vi.setSystemTime(Date.now() + 20_000);
    if (asked <= failures) throw error;
    return asked;
  };
}

describe('a request to a worker that is starting', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
  afterEach(() => void vi.useRealTimers());

  test('is repeated for longer than a start takes, and says so once', async () => {
    const lines: string[] = [];
    expect(await askWorker(placeOf('embedded'), answersAfter(5), { tell: (line) => lines.push(line) })).toBe(6);
    expect(lines).toEqual(['no worker has answered yet; waiting for up to 120 s']);
  });

  test('fails after 2 minutes', async () => {
    const ask = vi.fn<() => Promise<number>>(answersAfter(100));
    await expect(askWorker(placeOf('embedded'), ask, { tell: () => undefined })).rejects.toBe(NO_WORKER);
    expect(ask).toHaveBeenCalledTimes(7);
  });

  test('is asked a last time after Ctrl-C', async () => {
    const interrupted = new AbortController();
    const ask = vi.fn<() => Promise<number>>(answersAfter(100));
    const asking = askWorker(placeOf('embedded'), ask, { tell: () => undefined, signal: interrupted.signal });
    interrupted.abort();
    await expect(asking).rejects.toBe(NO_WORKER);
    expect(ask.mock.calls.length).toBeLessThanOrEqual(2);
  });

  test.each([
    ['on a configured server', placeOf('configured'), NO_WORKER],
    ['that is refused', placeOf('embedded'), new PerdureError('NO_SESSION', 'no session', 3)],
  ])('%s is sent once', async (_what, place, error) => {
    const asking = askWorker(place, answersAfter(1, error), { tell: () => undefined });
    await expect(asking).rejects.toBe(error);
  });
});

describe('a worker in the background that ends before it answered', () => {
  test('is started once more; then the request fails with its last line', async () => {
    await mkdir(folder.path, { recursive: true });
    const log = join(folder.path, 'dev.log');
    await writeFile(log, 'first\nCONFIG: no model\n');
    const start = vi.fn<() => Promise<Background>>(async () => ({ pid: 1, log }));
    const ensure = await startBackground(placeOf('embedded'), start);
    const own = await announceBackground(folder.path);
    await ensure();
    expect(start).toHaveBeenCalledTimes(1);
    await own.remove();
    await ensure();
    expect(start).toHaveBeenCalledTimes(2);
    await expect(ensure()).rejects.toMatchObject({
      code: 'BACKGROUND_FAILED',
      message: expect.stringContaining('CONFIG: no model (log: '),
    });
  });

  test('is not missed when another process has the worker', async () => {
    const start = vi.fn<() => Promise<Background>>(async () => ({ pid: 1 }));
    const ensure = await startBackground(placeOf('embedded', true), start);
    await ensure();
    expect(start).toHaveBeenCalledTimes(1);
  });
});
