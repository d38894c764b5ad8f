import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, inject, onTestFinished, test } from 'vitest';
import { AgentClient } from '../../src/client/agent-client.js';
import { retriesUntilClosed } from '../../src/client/temporal/closed-channel.js';
import { startCutProxy } from './support/cut-proxy.js';

test('a client that is closed while its requests wait for a lost server ends them, and the process goes on', async () => {
  const proxy = await startCutProxy(inject('temporalAddress'));
  onTestFinished(() => proxy.close());
  const uncaught: unknown[] = [];
  const note = (error: unknown): void => void uncaught.push(error);
  process.on('uncaughtExceptionMonitor', note);
  onTestFinished(() => void process.off('uncaughtExceptionMonitor', note));
  const client = await AgentClient.connect({ address: proxy.address });
  const run = client.get(randomUUID());
  proxy.cut();
  const requests = [run.progress(), run.describe(), run.result()].map((request) => request.catch((error: unknown) => error));
  // the SDK waits for its next attempt, for up to 5 s
  await delay(700);
  await client.close();
  const errors = await Promise.all(requests);
  expect(errors.map((error) => error instanceof Error)).toEqual([true, true, true]);
  expect(await run.describe().catch((error: unknown) => error)).toBeInstanceOf(Error);
  expect(uncaught).toEqual([]);
}, 30_000);

test('another fault of a request is not taken for a closed connection', () => {
  const fault = new TypeError('Channel#createCall: method must be a string');
  const innermost = retriesUntilClosed().at(-1);
  const request = (): unknown =>
    innermost?.({ method_definition: {} as never }, () => {
      throw fault;
    });
  expect(request).toThrow(fault);
});
