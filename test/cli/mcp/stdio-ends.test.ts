import { PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { GATEWAY_LIMITS } from '../../../src/contracts/constants/gateway-limits.js';
import type { Door, StartedRun } from '../../../src/gateway/mcp/door.js';
import { serveStdio } from '../../../src/gateway/mcp/serve-stdio.js';

const HELLO = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'pipe', version: '1' } };
const INPUT = [
  { jsonrpc: '2.0', id: 1, method: 'initialize', params: HELLO },
  { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'run_start', arguments: { task: 'x' } } },
]
  .map((request) => `${JSON.stringify(request)}\n`)
  .join('');

describe.concurrent('perdure mcp, after the end of its input', () => {
  test('answers a request that takes longer than the end of a server may take', async () => {
    const { ended, output } = serve(() => delay(GATEWAY_LIMITS.drainMs + 1_000, STARTED));
    await ended;
    expect(output().map(({ id }) => id)).toEqual([1, 2]);
  });

  test('does not wait that long once it is to end', async () => {
    const { ended, end } = serve(() => new Promise(() => undefined));
    await delay(500);
    end();
    // it would be longer than the time limit of this test
    await expect(ended).resolves.toBeUndefined();
  }, 45_000);
});

const STARTED = { runId: 'r1', executionId: 'e1' } as StartedRun;

/** Serves the requests above, whose input ends with them. */
function serve(start: Door['start']) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const control = new AbortController();
  let text = '';
  stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const door: Door = {
    version: '0.0.0',
    decides: false,
    client: () => Promise.reject(new Error('not asked for')),
    agents: () => Promise.resolve([]),
    start,
  };
  const ended = serveStdio({ door, stdin, stdout, signal: control.signal, say: () => undefined });
  stdin.end(INPUT);
  return {
    ended,
    output: () =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { id: number }),
    end: () => control.abort(),
  };
}
