import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { McpPool } from '../../../src/activities/mcp/pool.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { killMarked } from '../../providers/support/kill-marked.js';
import { until } from '../../support/use-workers.js';
import { liveProcesses } from '../../tools/support/live-processes.js';
import { ASKING_SERVER } from './support/asking-desk.js';
import { RUN } from './support/calls.js';

/** Starts a server that does not end with its input. */
const LINGERING = 'setInterval(() => undefined, 1000); import(process.argv[1]);';

/** Starts a server once a file is there. */
const LATE = `const timer = setInterval(() => {
  if (!require('node:fs').existsSync(process.argv[2])) return;
  clearInterval(timer);
  import(process.argv[1]);
}, 20);`;

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

  it.each([
    ['a server in use', 60_000],
    ['a server that is being ended', 1],
  ])('leaves none of the folders of %s', async (_, idleMs) => {
    const folder = await mkdtemp(join(tmpdir(), 'perdure-mcp-left-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    vi.stubEnv('TMPDIR', folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const server = { command: process.execPath, args: ['-e', LINGERING, ASKING_SERVER, marker] };
    const sandbox = { network: { allow: [] } };
    const pool = new McpPool({ servers: { server }, sandbox, protected: [], keys: captureKeys({}), idleMs });
    await pool.use('server', RUN, async () => {
      expect((await readdir(folder)).some((name) => name.startsWith('perdure-mcp-'))).toBe(true);
    });
    // timers end in their order
    await delay(50);
    await pool.close();
    expect(await readdir(folder)).toEqual([]);
  });

  it('ends a server that answers only after its idle time, when nobody needs it any more', async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'perdure-mcp-late-'));
    onTestFinished(() => rm(cwd, { recursive: true, force: true }));
    const late = { command: process.execPath, args: ['-e', LATE, ASKING_SERVER, join(cwd, 'go'), marker], cwd };
    const pool = new McpPool({ servers: { late }, sandbox: {}, protected: [], keys: captureKeys({}), idleMs: 1 });
    onTestFinished(() => pool.close());
    const caller = new AbortController();
    const used = pool.use('late', { ...RUN, signal: caller.signal }, () => Promise.resolve()).catch((error: unknown) => error);
    await until(async () => (await liveProcesses(marker)).length > 0, 'the start of the server');
    caller.abort(new Error('enough'));
    expect(await used).toMatchObject({ message: 'stopped' });
    // timers end in their order: that of the pool is over
    await delay(50);
    await writeFile(join(cwd, 'go'), '');
    await until(async () => (await liveProcesses(marker)).length === 0, 'the end of the server');
  });
});
