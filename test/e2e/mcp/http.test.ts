import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it } from 'vitest';
import type { CliFolder, Command } from '../../cli/support/cli.js';
import { McpClient, useMcpFolders } from '../../cli/support/mcp-client.js';
import { freePort } from '../../support/free-port.js';

const folder = useMcpFolders();

interface HttpServer {
  readonly command: Command;
  readonly port: number;
  readonly token: string;
}

async function serve(here: CliFolder, port: number): Promise<HttpServer> {
  const command = here.start(['mcp', '--http', '--port', String(port)]);
  await command.saw(`MCP server at http://127.0.0.1:${port}/mcp, token in ${join(here.path, '.perdure', 'gateway-token')}`);
  return { command, port, token: (await readFile(join(here.path, '.perdure', 'gateway-token'), 'utf8')).trim() };
}

async function connect({ port, token }: HttpServer): Promise<McpClient> {
  const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  return await McpClient.over(transport);
}

describe('perdure mcp over HTTP', { timeout: 120_000 }, () => {
  it('serves clients with the token; a wait of one ends with the server, which exits 0; another server goes on with the same token', async () => {
    const here = await folder();
    const first = await serve(here, await freePort());
    const client = await connect(first);
    await client.call('run_start', { task: 'deploy it', id: 'r1' });
    const lines: string[] = [];
    const waited = await client.call('run_wait', { runId: 'r1' }, ({ message = '' }) => void lines.push(message));
    expect(waited).toMatchObject({ done: false, progress: { pendingApprovals: 1 } });
    expect(lines.length).toBeGreaterThan(0);
    const { approvals } = await client.call('run_status', { runId: 'r1' });
    const [{ callId }] = approvals as [{ callId: string }];
    expect(await client.call('run_deny', { runId: 'r1', callId, reason: 'not today' })).toMatchObject({
      decision: 'denied',
      by: 'mcp:client',
    });
    expect(await client.call('run_wait', { runId: 'r1' })).toMatchObject({ done: true });

    await client.call('run_start', { task: 'deploy it', id: 'r2' });
    first.command.child.kill('SIGINT');
    expect((await first.command.ended).code).toBe(0);
    await client.close();

    expect((await stat(join(here.path, '.perdure', 'gateway-token'))).mode & 0o777).toBe(0o600);
    const second = await serve(here, first.port);
    expect(second.token).toBe(first.token);
    const again = await connect(second);
    expect(await again.call('run_status', { runId: 'r1' })).toMatchObject({ run: { open: false } });
    expect(await again.call('run_wait', { runId: 'r2' })).toMatchObject({ done: false, progress: { pendingApprovals: 1 } });
    await again.close();
    second.command.child.kill('SIGTERM');
    expect((await second.command.ended).code).toBe(0);
  });

  it('says what is wrong with its options, and exits 2', async () => {
    const here = await folder();
    expect(await here.start(['mcp', '--port', '80']).ended).toMatchObject({
      code: 2,
      stderr: 'BAD_OPTION: --host and --port need --http\n',
    });
    expect(await here.start(['mcp', '--http', '--port', 'x']).ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('BAD_OPTION: port'),
    });
    const elsewhere = await here.start(['mcp', '--workspace', 'nowhere']).ended;
    expect(elsewhere).toMatchObject({ code: 2, stderr: expect.stringMatching(/^WORKSPACE: .* does not exist\n$/u) });
  });
});
