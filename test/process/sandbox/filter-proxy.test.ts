import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import { dirname } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { matches, startFilterProxy } from '../../../src/process/sandbox/filter-proxy.js';
import { createRunCommand } from '../../../src/tools/run-command.js';
import { tempWorkspace, textOf } from '../../tools/support/temp-workspace.js';

let server: Server;
let port = 0;
const asked: string[] = [];
let last: object = {};
beforeAll(async () => {
  server = createServer((incoming, response) => {
    asked.push(`${incoming.method} ${incoming.url} ${incoming.headers.host}`);
    last = incoming.headers;
    incoming.pipe(response.writeHead(200, { 'x-seen': 'yes' }));
    if (incoming.method === 'GET') response.end('answer');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  port = address !== null && typeof address === 'object' ? address.port : 0;
  return () => server.close();
});

async function proxyFor(...allow: readonly string[]): Promise<string> {
  const proxy = await startFilterProxy(allow);
  onTestFinished(() => proxy.close());
  return proxy.socket;
}

/** Asks through the proxy, as a client that knows it. */
async function ask(socket: string, url: string, body?: string): Promise<{ status: number; text: string }> {
  const { host } = new URL(url);
  const outgoing = request({ socketPath: socket, path: url, method: body === undefined ? 'GET' : 'POST', headers: { host } }).end(body);
  const [response] = (await once(outgoing, 'response')) as [NodeJS.ReadableStream & { statusCode: number }];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode, text };
}

async function tunnel(socket: string, target: string): Promise<string> {
  const client = connect(socket);
  client.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n\r\n`);
  let text = '';
  for await (const chunk of client) {
    text += String(chunk);
    if (text.startsWith('HTTP/1.1 200') && !text.includes('answer') && text.endsWith('\r\n\r\n')) {
      client.write(`GET /through HTTP/1.1\r\nhost: ${target}\r\nconnection: close\r\n\r\n`);
    }
  }
  return text;
}

describe('the proxy of commands', () => {
  test('the host of a request is that of its address, and headers of a proxy end at it', async () => {
    const socket = await proxyFor(`127.0.0.1:${port}`);
    const headers = { host: 'other.example.com', 'proxy-authorization': 'x', connection: 'x-one', 'x-one': '1', 'x-two': '2' };
    const outgoing = request({ socketPath: socket, path: `http://127.0.0.1:${port}/headers`, headers }).end();
    await once(outgoing, 'response');
    expect(asked.at(-1)).toBe(`GET /headers 127.0.0.1:${port}`);
    expect(last).toMatchObject({ host: `127.0.0.1:${port}`, 'x-two': '2' });
    expect(last).not.toHaveProperty('proxy-authorization');
    expect(last).not.toHaveProperty('x-one');
  });

  test('a change of the protocol is refused', async () => {
    const raw = createTcpServer((client) => {
      client.once('data', () => client.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: own\r\n\r\nunseen'));
    });
    await once(raw.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void raw.close());
    const address = raw.address();
    const other = address !== null && typeof address === 'object' ? address.port : 0;
    const socket = await proxyFor(`127.0.0.1:${other}`);
    expect(await ask(socket, `http://127.0.0.1:${other}/`)).toEqual({ status: 502, text: expect.stringContaining('changed the protocol') });
  });

  test('carries requests and tunnels to an allowed host', async () => {
    const socket = await proxyFor(`127.0.0.1:${port}`);
    expect(await ask(socket, `http://127.0.0.1:${port}/a?b=c`)).toEqual({ status: 200, text: 'answer' });
    expect(asked.at(-1)).toBe(`GET /a?b=c 127.0.0.1:${port}`);
    expect(await ask(socket, `http://127.0.0.1:${port}/`, 'a body')).toEqual({ status: 200, text: 'a body' });
    expect(await tunnel(socket, `127.0.0.1:${port}`)).toMatch(/^HTTP\/1\.1 200 [^]*answer/u);
  });

  test('refuses another host and another port, and says which', async () => {
    const socket = await proxyFor('api.example.com', `127.0.0.2:${port}`);
    const before = asked.length;
    expect(await ask(socket, `http://127.0.0.1:${port}/`)).toEqual({
      status: 403,
      text: `perdure sandbox: 127.0.0.1:${port} is not in sandbox.network.allow\n`,
    });
    expect(await ask(socket, 'http://api.example.com:8080/')).toMatchObject({ status: 403 });
    expect(await tunnel(socket, `127.0.0.1:${port}`)).toMatch(/^HTTP\/1\.1 403 [^]*is not in sandbox\.network\.allow/u);
    expect(asked).toHaveLength(before);
  });

  test('a name that leads to this machine is refused, unless its entry is the local name', async () => {
    const refused = await proxyFor(`ip6-localhost:${port}`, `loopback.invalid:${port}`);
    const { status, text } = await ask(refused, `http://ip6-localhost:${port}/`);
    expect([403, 502]).toContain(status);
    expect(text).toContain('perdure sandbox: ');
    expect(await ask(await proxyFor(`localhost:${port}`), `http://localhost:${port}/`)).toEqual({ status: 200, text: 'answer' });
  });

  test.each([
    'GET / HTTP/1.1\r\n\r\n',
    'CONNECT nonsense\r\n\r\n',
    'CONNECT [::1 HTTP/1.1\r\n\r\n',
    '\0\0\0',
    'GET ftp://x/ HTTP/1.1\r\nhost: x\r\n\r\n',
  ])('nonsense ends its connection and nothing else: %j', async (text) => {
    const socket = await proxyFor(`127.0.0.1:${port}`);
    const client = connect(socket);
    client.on('error', () => undefined).end(text);
    await once(client.resume(), 'close');
    expect(await ask(socket, `http://127.0.0.1:${port}/`)).toMatchObject({ status: 200 });
  });

  test('is gone when it is closed', async () => {
    const proxy = await startFilterProxy(['api.example.com']);
    await stat(proxy.socket);
    await proxy.close();
    await expect(stat(dirname(proxy.socket))).rejects.toThrow('ENOENT');
  });

  test.each([
    ['api.example.com', 'api.example.com', 443, true],
    ['API.example.com', 'api.example.com', 80, true],
    ['api.example.com', 'api.example.com.evil.org', 443, false],
    ['api.example.com', 'xapi.example.com', 443, false],
    ['*.example.com', 'a.b.example.com', 443, true],
    ['*.example.com', 'example.com', 443, false],
    ['*.example.com', 'evilexample.com', 443, false],
    ['api.example.com:8443', 'api.example.com', 8_443, true],
    ['api.example.com:8443', 'api.example.com', 443, false],
    ['[::1]:80', '::1', 80, true],
  ])('%s, asked for %s:%i: %s', (entry, host, number, expected) => {
    expect(matches(entry, { host, port: number })).toBe(expected);
  });
});

describe('run_command with network.allow', () => {
  test('curl and Node find the proxy; what is not allowed stays closed', async () => {
    const workspace = await tempWorkspace();
    const tool = createRunCommand({ sandbox: { network: { allow: [`127.0.0.1:${port}`] } }, protected: [] });
    // programs do not ask the proxy for the loopback, which is theirs: this asks for it by hand
    const command = [
      `curl -sS --noproxy '' http://127.0.0.1:${port}/curl`,
      `curl -sS --noproxy '' -p http://127.0.0.1:${port}/tunnel`,
      `curl -sS http://api.example.com/; curl -sS https://api.example.com/ 2>&1`,
      `curl -sS --noproxy '*' http://127.0.0.1:${port}/direct 2>&1`,
    ].join('; echo; ');
    const text = await textOf(tool.execute({ command: `${command}; true` }, workspace.context()));
    expect(text).toMatch(
      /^exit code 0\nanswer\nanswer\nperdure sandbox: api\.example\.com:80 is not in sandbox\.network\.allow\n[^]*(?:403|CONNECT)[^]*Failed to connect/iu,
    );
  });
});
