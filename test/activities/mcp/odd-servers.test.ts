import { describe, expect, it } from 'vitest';
import { callTool, RUN, textOf } from './support/calls.js';
import { useMcp } from './support/mcp-kit.js';

describe('an MCP server that misbehaves costs one failed result', { timeout: 60_000 }, () => {
  const { odd, open } = useMcp();

  it('B24 gives its tools names that providers take, each its own; keeps the effects of their annotations', async () => {
    const { tools } = await odd();
    const { tools: offered } = await tools.offer(['odd'], RUN);
    const effects = Object.fromEntries(offered.map(({ tool }) => [tool.name, tool.effect]));
    expect(effects).toMatchObject({ odd_add: 'read', odd_die: 'once', odd_repeatable: 'idempotent' });
    for (const name of Object.keys(effects)) expect(name).toMatch(/^[A-Za-z_][\w-]{0,63}$/u);
    expect(Object.keys(effects)).toHaveLength(16);
    const long = offered.find(({ tool }) => tool.name.startsWith('odd_xxx'))?.tool.name ?? '';
    expect(long).toMatch(/_[0-9a-f]{8}$/u);
    expect(textOf(await callTool(tools, long))).toBe('long');
    const spaced = offered.find(({ tool }) => tool.name.startsWith('odd_with'))?.tool.name ?? '';
    expect(textOf(await callTool(tools, spaced))).toBe('found');
  });

  it('B25 leaves out a tool with a remote reference or a huge schema, says why, and offers the others', async () => {
    const { tools } = await odd();
    const { notices } = await tools.offer(['odd'], RUN);
    expect(notices).toEqual([
      expect.stringContaining('MCP tool odd "bad-schema" is left out: inputSchema.properties.a.$ref: only references inside the schema'),
      expect.stringMatching(/^MCP tool odd "huge-schema" is left out: inputSchema: \d+ bytes, at most 65536$/u),
    ]);
  });

  it('options of the config override what the server says', async () => {
    const { tools } = await odd({
      approval: 'always',
      blockedTools: ['die'],
      tools: { add: { effect: 'once', approval: 'never', timeoutMs: 5_000 } },
    });
    const { tools: offered } = await tools.offer(['odd'], RUN);
    const add = offered.find(({ tool }) => tool.name === 'odd_add')?.tool;
    expect(add).toMatchObject({ effect: 'once', approval: 'never', timeoutMs: 5_000 });
    expect(offered.some(({ tool }) => tool.name === 'odd_die')).toBe(false);
    expect(tools.get('odd_hang')).toMatchObject({ approval: 'always' });
    expect(tools.get('odd_add')).toMatchObject({ approval: 'never', timeoutMs: 5_000 });
  });

  it('B49 checks arguments before they are sent', async () => {
    const { tools, log } = await odd();
    await expect(callTool(tools, 'odd_strict', { items: 'no list' })).rejects.toThrow(
      /invalid arguments for odd_strict: \/items: .*array/u,
    );
    await expect(callTool(tools, 'odd_strict', {})).rejects.toThrow(/invalid arguments for odd_strict: .*items/u);
    expect(tools.get('odd_strict')?.parameters.safeParse([1]).success).toBe(false);
    expect(textOf(await callTool(tools, 'odd_strict', { items: ['a', 'b'] }))).toBe('a+b');
    expect((await log()).filter((line) => line === 'call strict')).toHaveLength(1);
  });

  it('B49 an image of 20 MB is left out by name; an error without text, unknown content and a false output schema are told', async () => {
    const { tools } = await odd();
    expect(textOf(await callTool(tools, 'odd_big-image'))).toMatch(/^\[image of type image\/png, 15.*: larger than .*, so not shown\]$/u);
    await expect(callTool(tools, 'odd_silent-error')).rejects.toThrow('tool failed without message');
    expect(textOf(await callTool(tools, 'odd_unknown-content'))).toBe(
      'before\n[resource x://y]\n[audio of type audio/wav, 3 bytes: not shown]',
    );
    expect(textOf(await callTool(tools, 'odd_lie'))).toBe('took effect');
  });

  it('a log on the error output, or between messages, breaks no message', async () => {
    const { tools } = await odd();
    expect(textOf(await callTool(tools, 'odd_log-much'))).toHaveLength(300_000);
  });

  it('passes progress on as heartbeats', async () => {
    const { tools } = await odd();
    const seen: unknown[] = [];
    await callTool(tools, 'odd_progress', {}, { onHeartbeat: (details) => seen.push(details) });
    expect(seen).toEqual([{ progress: 1, total: 2, message: 'half' }]);
  });

  it('R3 a call that must not be repeated has an unknown outcome when its server dies; the next call starts the server again', async () => {
    const { tools, log } = await odd();
    await expect(callTool(tools, 'odd_die')).rejects.toMatchObject({
      name: 'OutcomeUnknownError',
      message: expect.stringMatching(/the MCP server odd was lost during the call: it ended with exit code 9/u),
    });
    expect(textOf(await callTool(tools, 'odd_add', { n: 1 }))).toBe('sum 2');
    const lines = await log();
    expect(lines.filter((line) => line.startsWith('start'))).toHaveLength(2);
    expect(lines.filter((line) => line === 'call die')).toHaveLength(1);
  });

  it('R3 a call that may be repeated is made once more', async () => {
    const { tools, log } = await odd();
    expect(textOf(await callTool(tools, 'odd_die-once'))).toBe('after a restart');
    expect((await log()).filter((line) => line === 'call die-once')).toHaveLength(2);
  });

  it('a server that hangs is cancelled with the call, and ended when it answers no ping', async () => {
    const { tools, log } = await odd();
    const stop = new AbortController();
    const call = callTool(tools, 'odd_hang', {}, { signal: stop.signal });
    await expect.poll(log).toContain('call hang');
    stop.abort();
    await expect(call).rejects.toThrow('the request was sent to the MCP server odd, which did not answer');
    await expect.poll(log).toContain('cancelled');
    const started = async (): Promise<number> => (await log()).filter((line) => line.startsWith('start')).length;
    await expect
      .poll(async () => {
        await callTool(tools, 'odd_add', { n: 1 });
        return await started();
      })
      .toBe(2);
  });

  it('a flood of 40 MB in one line ends the server, and no later call', async () => {
    const { tools } = await odd();
    await expect(callTool(tools, 'odd_flood')).rejects.toThrow(/was lost during the call: it wrote a message of more than 33554432 bytes/u);
    expect(textOf(await callTool(tools, 'odd_add', { n: 2 }))).toBe('sum 3');
  });

  it('a server that does not start is a notice with its last words, or the problem of a run that requires it', async () => {
    const { tools } = await odd({ env: { FAIL_START: '1' } });
    const reason = /MCP server odd cannot be used: it ended with exit code 3: the token is refused/u;
    expect(await tools.offer(['odd'], RUN)).toEqual({ tools: [], hashes: {}, notices: [expect.stringMatching(reason)] });
    await expect(callTool(tools, 'odd_add', { n: 1 })).rejects.toThrow('the token is refused');
    const required = await odd({ env: { FAIL_START: '1' }, required: true });
    expect(await required.tools.offer(['odd'], RUN)).toEqual({
      tools: [],
      notices: [],
      hashes: {},
      problem: expect.stringMatching(reason),
    });
  });

  it('a missing program, and a reference without a value, are told', async () => {
    const servers = { gone: { command: 'no-such-program-here' }, keyless: { command: 'cat', env: { TOKEN: 'env:NO_SUCH_VALUE' } } };
    const tools = open({ servers });
    const { notices } = await tools.offer(['gone', 'keyless'], RUN);
    expect(notices).toEqual([
      expect.stringMatching(/MCP server gone cannot be used: it ended with exit code 127.*no-such-program-here/u),
      'MCP server keyless cannot be used: SECRET_MISSING env:NO_SUCH_VALUE',
    ]);
  });

  it('a server without calls is ended, and started again by the next call', async () => {
    const { tools, log } = await odd({}, { idleMs: 100 });
    await callTool(tools, 'odd_add', { n: 1 });
    const [first = ''] = await log();
    const pid = Number(first.split(' ')[1]);
    expect(pid).toBeGreaterThan(0);
    await expect
      .poll(async () => {
        await callTool(tools, 'odd_add', { n: 1 });
        await new Promise((resolve) => setTimeout(resolve, 300));
        return (await log()).filter((line) => line.startsWith('start')).length;
      })
      .toBeGreaterThan(1);
  });
});
