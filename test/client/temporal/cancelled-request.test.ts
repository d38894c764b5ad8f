import type { Client } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { TemporalAccess } from '../../../src/client/temporal/connection.js';

/** The error of gRPC with a status. */
function grpcError(code: number): Error {
  return Object.assign(new Error('of gRPC'), { code, details: 'cancelled', metadata: {} });
}

/** An access whose requests end with this error at their deadline, or before. */
function accessOf(error: Error, isLate: boolean): TemporalAccess {
  const client = {
    options: { namespace: 'default' },
    withDeadline: async (deadline: number) => {
      if (isLate) await new Promise((resolve) => setTimeout(resolve, deadline - Date.now()));
      throw error;
    },
  };
  // a request needs nothing else
  return new TemporalAccess({ client: client as unknown as Client, taskQueue: 'q', address: 'host:1', tls: false, inputBytesMax: 1 });
}

const ask = async (access: TemporalAccess, timeoutMs: number): Promise<unknown> =>
  await access.ask(() => Promise.resolve(), 'run', timeoutMs);

describe('a request to the server', () => {
  it('that is cancelled at its deadline got no answer', async () => {
    await expect(ask(accessOf(grpcError(1), true), 200)).rejects.toMatchObject({ code: 'TEMPORAL_UNREACHABLE', exitCode: 5 });
    await expect(ask(accessOf(grpcError(4), true), 200)).rejects.toMatchObject({ code: 'TEMPORAL_UNREACHABLE', exitCode: 5 });
  });

  it('that its caller cancelled before ends with the error of gRPC', async () => {
    const error = grpcError(1);
    await expect(ask(accessOf(error, false), 60_000)).rejects.toBe(error);
  });
});
