import { randomUUID } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';
import { SEARCH_ATTRIBUTES } from '../../src/contracts/constants/search-attributes.js';
import { registerSearchAttributes } from '../../src/worker/search-attributes.js';

let connection: Connection;

beforeEach(async () => {
  connection = await Connection.connect({ address: inject('temporalAddress') });
});

afterEach(async () => {
  await connection.close();
});

test('registerSearchAttributes: adds what a namespace lacks, and nothing the second time', async () => {
  const namespace = `attributes-${randomUUID()}`;
  await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: msToTs('1 day') });
  const names = Object.keys(SEARCH_ATTRIBUTES);
  await vi.waitFor(async () => expect((await registerSearchAttributes(connection, namespace)).registered).toEqual(names), {
    timeout: 20_000,
  });
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  expect(Object.keys(customAttributes)).toEqual(expect.arrayContaining(names));
  expect(await registerSearchAttributes(connection, namespace)).toEqual({ registered: names, added: [] });
});
