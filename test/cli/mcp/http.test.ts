import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it } from 'vitest';
import { GATEWAY_LIMITS } from '../../../src/contracts/constants/limits.js';
import { freePort } from '../../support/free-port.js';
import type { CliFolder, Command } from '../support/cli.js';
import { McpClient, useMcpFolders } from '../support/mcp-client.js';

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

  it('refuses what has no token, another path, another host, another method and too much, before any of it is read', async () => {
    const here = await folder();
    const server = await serve(here, await freePort());
    const authorization = `Bearer ${server.token}`;
    expect(await ask(server, {})).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
    expect(await ask(server, { headers: { authorization: `Bearer ${server.token}x` } })).toMatchObject({ status: 401 });
    expect(await ask(server, { headers: { authorization: `Basic ${server.token}` } })).toMatchObject({ status: 401 });
    expect(await ask(server, { headers: { authorization }, path: '/' })).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    expect(await ask(server, { headers: { authorization }, method: 'GET' })).toMatchObject({ status: 405 });
    const rebound = { authorization, host: `attacker.example:${server.port}` };
    expect(await ask(server, { headers: rebound })).toMatchObject({ status: 403, code: 'BAD_HOST' });
    const json = { authorization, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    expect(await ask(server, { headers: json, body: 'no json' })).toMatchObject({ status: 400 });
    expect(await ask(server, { headers: { ...json, 'content-type': 'text/plain' }, body: '{}' })).toMatchObject({ status: 415 });
    expect(await ask(server, { headers: json, body: 'x'.repeat(GATEWAY_LIMITS.requestBytesMax + 1) })).toMatchObject({ status: 413 });

    const taken = here.start(['mcp', '--http', '--port', String(server.port)]);
    const refused = `PORT: port ${server.port} of 127.0.0.1 is in use; choose another one with --port\n`;
    expect(await taken.ended).toMatchObject({ code: 2, stderr: expect.stringContaining(refused) });
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
    server.command.child.kill('SIGINT');
    expect((await server.command.ended).code).toBe(0);
  });
});

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

async function ask({ port }: HttpServer, { method = 'POST', path = '/mcp', headers = {}, body = '{}' }: Asked) {
  const asked = request({ host: '127.0.0.1', port, method, path, headers });
  // the server may close the connection while the body is still sent
  asked.on('error', () => undefined);
  asked.end(body);
  const [response] = await once(asked, 'response');
  let text = '';
  for await (const chunk of response) text += String(chunk);
  const { error } = JSON.parse(text) as { error?: { code?: unknown } };
  return { status: response.statusCode, code: error?.code };
}
