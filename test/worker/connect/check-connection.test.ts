import { randomUUID } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { expect, inject, test, vi } from 'vitest';
import { hasPollers, parseAddress } from '../../../src/worker/connect/check-connection.js';
import { answersTemporal } from '../../../src/worker/temporal/probe.js';

const address = inject('temporalAddress');

test('hasPollers: true while somebody polls the queue for workflow tasks, false for a queue nobody polls', async () => {
  const taskQueue = `queue-${randomUUID()}`;
  expect(await hasPollers({ address }, 'default', taskQueue)).toBe(false);
  const connection = await Connection.connect({ address });
  const polling = connection.withDeadline(Date.now() + 60_000, () =>
    connection.workflowService.pollWorkflowTaskQueue({ namespace: 'default', taskQueue: { name: taskQueue }, identity: 'a poller' }),
  );
  // it ends with the connection
  void polling.catch(() => undefined);
  await vi.waitFor(async () => expect(await hasPollers({ address }, 'default', taskQueue)).toBe(true), { timeout: 20_000, interval: 50 });
  await connection.close();
});

test('hasPollers: false for a namespace or a server that is not there', async () => {
  expect(await hasPollers({ address }, 'nowhere', 'any')).toBe(false);
  expect(await hasPollers({ address: '127.0.0.1:1' }, 'default', 'any')).toBe(false);
});

test('answersTemporal: true for a Temporal server, false for a port nobody listens on', async () => {
  expect(await answersTemporal(address, 20_000)).toBe(true);
  expect(await answersTemporal('127.0.0.1:1', 2_000)).toBe(false);
});

test.each([
  ['localhost:7233', 'localhost', 7233],
  [' temporal.example.org:443 ', 'temporal.example.org', 443],
  ['[::1]:7233', '::1', 7233],
])('parseAddress: reads %j', (text, host, port) => {
  expect(parseAddress(text)).toEqual({ address: text.trim(), host, port });
});
