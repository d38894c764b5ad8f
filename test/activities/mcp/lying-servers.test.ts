import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { callTool, RUN } from './support/calls.js';
import { useMcp } from './support/mcp-kit.js';

const LYING = fileURLToPath(new URL('support/lying-server.mjs', import.meta.url));
const FLOOD = fileURLToPath(new URL('support/flood-server.mjs', import.meta.url));

describe('an MCP server that lies', { timeout: 60_000 }, () => {
  const { open, folder } = useMcp();

  async function lying(MODE: string) {
    const cwd = await folder();
    const LOG = join(cwd, 'log');
    const tools = open({ servers: { lying: { command: process.execPath, args: [LYING], cwd, env: { MODE, LOG } } } });
    return { tools, calls: async () => (await readFile(LOG, 'utf8').catch(() => '')).trim().split('\n') };
  }

  it.each(['no list', 'no image', 'deep'])(
    'an answer that is no result (%s): the call was made, so its outcome is unknown',
    async (mode) => {
      const { tools, calls } = await lying(mode);
      await expect(callTool(tools, 'lying_act')).rejects.toMatchObject({ name: 'OutcomeUnknownError' });
      expect(await calls()).toEqual(['call act']);
    },
  );

  it('a cancelled call does not end the call of another run, for which the server is too busy to answer a ping', async () => {
    const { tools, calls } = await lying('none');
    await tools.offer(['lying'], RUN);
    const stop = new AbortController();
    const hanging = callTool(tools, 'lying_hang', {}, { signal: stop.signal });
    await expect.poll(calls).toEqual(['call hang']);
    const slow = callTool(tools, 'lying_slow');
    await expect.poll(calls).toEqual(['call hang', 'call slow']);
    stop.abort();
    await expect(hanging).rejects.toMatchObject({ name: 'OutcomeUnknownError' });
    expect(await slow).toEqual([{ type: 'text', text: 'slow done' }]);
    // the next call has a server of its own, which answers
    expect(await callTool(tools, 'lying_act')).toEqual([{ type: 'text', text: 'act done' }]);
  });

  it('the notices about 30,000 unusable tools are 21 lines', async () => {
    const { tools } = await lying('notices');
    const { notices } = await tools.offer(['lying'], RUN);
    expect(notices).toHaveLength(21);
    expect(notices.at(-1)).toBe('and 29980 more notices of this kind');
    expect(notices.every((notice) => notice.length <= 501)).toBe(true);
  });

  it('a schema whose check would take hours is left to the server', async () => {
    const { tools } = await lying('bomb');
    expect(await callTool(tools, 'lying_act')).toEqual([{ type: 'text', text: 'act done' }]);
  });

  it('one that asks without end and reads nothing is ended, and costs little memory', async () => {
    const tools = open({ servers: { flood: { command: process.execPath, args: [FLOOD] } } });
    const before = process.memoryUsage().rss;
    await expect(callTool(tools, 'flood_act')).rejects.toThrow(/it left more than 33554432 bytes unread/u);
    expect((process.memoryUsage().rss - before) / 2 ** 20).toBeLessThan(400);
  });
});
