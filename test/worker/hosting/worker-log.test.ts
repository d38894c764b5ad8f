import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { SecretMask } from '../../../src/contracts/text/secret-mask.js';
import { WorkerLog } from '../../../src/worker/hosting/worker-log.js';

it('a log that cannot be written leaves lines out, says so once, and goes on when it can', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'perdure-log-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'worker.log');
  const said: string[] = [];
  const log = new WorkerLog({ file, say: (line) => said.push(line), secrets: new SecretMask() });
  // a folder in its place: whatever is written fails, as on a full disk
  await mkdir(file);
  log.logger.warn('first');
  log.logger.warn('second');
  expect(said).toEqual([expect.stringMatching(/^cannot write .*worker\.log: EISDIR.*; lines are left out until it can be written$/u)]);
  await rm(file, { recursive: true });
  log.logger.warn('third', { count: 3n });
  log.logger.warn('fourth');
  expect(said.slice(1)).toEqual([expect.stringContaining('worker.log can be written again; 2 lines were left out')]);
  expect(await readFile(file, 'utf8')).toContain('fourth');
});
