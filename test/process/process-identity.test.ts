import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { isProvedDead, newWorkerIdentity, parseWorkerIdentity, processIdentity, processState } from '../../src/process/process-identity.js';

const own = processIdentity();
if (!own) throw new Error('this process has no identity');

test('isProvedDead: false for a living process, true once it has ended', async () => {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  const identity = processIdentity(child.pid);
  if (!identity) throw new Error('no identity');
  expect(isProvedDead(identity)).toBe(false);
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  expect(isProvedDead(identity)).toBe(true);
});

test('isProvedDead: true for a pid that belongs to a process with another start time', () => {
  expect(isProvedDead({ ...own, start: '1' })).toBe(true);
});

test.each(['host', 'boot', 'pidNamespace'] as const)('isProvedDead: false for a dead pid of another %s', (field) => {
  expect(isProvedDead({ ...own, start: '1', [field]: 'other' })).toBe(false);
});

test('processState: a process that ended counts as gone, also while its parent has not asked for its end', async () => {
  // the shell becomes a long sleep, which never asks for the end of the short one
  const parent = spawn('/bin/sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [chunk]: Buffer[] = await once(parent.stdout, 'data');
  const zombie = Number(String(chunk).trim());
  try {
    await expect.poll(() => processState(zombie)).toEqual({ kind: 'gone' });
    expect(signalReaches(zombie), 'its pid is still taken').toBe(true);
  } finally {
    const ended = once(parent, 'exit');
    parent.kill('SIGKILL');
    await ended;
  }
});

test('newWorkerIdentity: names this process, differs each time, and reads back', () => {
  const [first, second] = [newWorkerIdentity(), newWorkerIdentity()];
  expect(first).not.toBe(second);
  expect(parseWorkerIdentity(first)).toEqual(own);
});

test.each(['', '123@host', 'perdure/h/b/n/x/1/r', 'perdure/h/b/n/1/1', 'perdure/h/b/n/1/1/r/more'])(
  'parseWorkerIdentity: %j is not one of ours',
  (text) => {
    expect(parseWorkerIdentity(text)).toBeUndefined();
  },
);

function signalReaches(pid: number): boolean {
  return process.kill(pid, 0);
}
