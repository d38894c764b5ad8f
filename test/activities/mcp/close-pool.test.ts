import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { McpPool } from '../../../src/activities/mcp/pool.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { killMarked } from '../../providers/support/kill-marked.js';
import { until } from '../../support/use-workers.js';
import { liveProcesses } from '../../tools/support/live-processes.js';
import { RUN } from './support/calls.js';

describe('closing the MCP servers of a worker', { timeout: 50_000 }, () => {
  const marker = `mcp-pool-${randomUUID()}`;
  afterEach(() => killMarked(marker));

  it('ends a server that has not answered yet, and does not wait for it', async () => {
    const mute = { command: process.execPath, args: ['-e', 'setInterval(() => undefined, 1000)', marker] };
    const pool = new McpPool({ servers: { mute }, sandbox: {}, protected: [], keys: captureKeys({}) });
    const used = pool.use('mute', RUN, () => Promise.resolve('connected')).catch((error: unknown) => String(error));
    await until(async () => (await liveProcesses(marker)).length > 0, 'the start of the server');
    await pool.close();
    expect(await used).toMatch(/^Error: /u);
    await until(async () => (await liveProcesses(marker)).length === 0, 'the end of the server');
  });
});
