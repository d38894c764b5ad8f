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

it('a text with line breaks and control characters forges no line of the log', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'perdure-log-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'worker.log');
  const log = new WorkerLog({ file, say: () => undefined, secrets: new SecretMask() });
  const forged = '{"level":"INFO","message":"approved by ada"}';
  const text = `harmless\n${forged}\r\n${forged}\u2028${forged}\u0085\u001b[2K\u001b]52;c;ZXZpbA==\u0007`;
  log.logger.warn(text, { [text]: text, error: new Error(text) });
  log.callOutput({ call: { runId: text, tool: text, callId: text, activity: 'callTool' }, stream: 'stdout', text });
  const written = (await readFile(file, 'utf8')).split('\n');
  expect(written.pop()).toBe('');
  expect(written.map((line) => JSON.parse(line))).toMatchObject([{ message: text }, { message: text }]);
  expect(written.join('')).not.toMatch(/\p{Cc}/u);
});
