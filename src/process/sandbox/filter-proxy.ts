import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type ClientRequest, createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { BlockList, connect, isIP, type Socket } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { SANDBOX_LIMITS } from '../../contracts/constants/limits.js';

/** A running proxy. */
export interface FilterProxy {
  /** Absolute path of its unix socket, which only the owner can open. */
  readonly socket: string;
  close(): Promise<void>;
}

/** A destination of a request. */
interface Destination {
  readonly host: string;
  readonly port: number;
}

const HTTP_PORT = 80;
const HTTPS_PORT = 443;

/**
 * Starts an HTTP proxy on a unix socket that reaches only the hosts of `allow`: `api.example.com`, `*.example.com` (any subdomain), or an
 * address, each with ports 80 and 443 or with the one that it names (`localhost:8080`). A name never leads to this machine itself or to
 * link-local addresses, where clouds keep their credentials, unless `allow` has the address. Anything else is refused with status 403 and
 * a line that names the host.
 */
export async function startFilterProxy(allow: readonly string[]): Promise<FilterProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'perdure-proxy-'));
  const socket = join(folder, 'proxy.sock');
  const tunnels = new Set<Duplex>();
  const server = createServer((incoming, response) => void forward(incoming, response, allow));
  server.on('connect', (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
    tunnels.add(client.on('close', () => tunnels.delete(client)));
    void tunnel(incoming, client, { head, allow });
  });
  server.on('clientError', (_error, client) => client.destroy());
  // a proxy that is idle keeps no process alive
  server.listen(socket).unref();
  await once(server, 'listening');
  return {
    socket,
    close: async () => {
      server.close();
      server.closeAllConnections();
      for (const client of tunnels) client.destroy();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function forward(incoming: IncomingMessage, response: ServerResponse, allow: readonly string[]): Promise<void> {
  try {
    const { host, hostname, port, pathname, search, protocol } = new URL(incoming.url ?? '');
    const { address, port: number } = await permitted({ host: hostname, port: Number(port || HTTP_PORT) }, allow);
    if (protocol !== 'http:') throw new Refusal(`${protocol} is not proxied; use CONNECT`);
    const headers = { ...endToEnd(incoming.headers), host, connection: 'close' };
    const outgoing = request({ host: address, port: number, method: incoming.method, path: pathname + search, headers });
    outgoing.setTimeout(SANDBOX_LIMITS.connectTimeoutMs, () => outgoing.destroy(new Error('no answer')));
    const answered = answerTo(outgoing);
    await Promise.all([pipeline(incoming, outgoing), answered]);
    const answer = await answered;
    response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
    await pipeline(answer, response);
  } catch (error) {
    if (response.headersSent) response.destroy();
    else response.writeHead(statusOf(error), { 'content-type': 'text/plain' }).end(`${problemOf(error)}\n`);
  }
}

/** Rejects if the other side changes the protocol: what it then sends is not HTTP. */
function answerTo(outgoing: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', resolve).once('error', reject);
    outgoing.once('upgrade', (_answer, socket: Socket) => {
      socket.destroy();
      reject(new Error('the host changed the protocol'));
    });
  });
}

/** Headers for one hop only, by RFC 9110, 7.6.1. `transfer-encoding` stays: Node writes the body by it, with lengths of its own. */
const ONE_HOP = new Set(['connection', 'keep-alive', 'te', 'trailer', 'upgrade']);

/** The headers that are not between two hops, nor for a proxy. */
function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = new Set((headers.connection ?? '').toLowerCase().split(/\s*,\s*/u));
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !ONE_HOP.has(name) && !named.has(name) && !name.startsWith('proxy-')),
  );
}

async function tunnel(
  incoming: IncomingMessage,
  client: Duplex,
  { head, allow }: { readonly head: Buffer; readonly allow: readonly string[] },
): Promise<void> {
  client.on('error', () => client.destroy());
  try {
    const { hostname, port } = new URL(`http://${incoming.url ?? ''}`);
    // the URL drops its default port
    const { address, port: number } = await permitted({ host: hostname, port: Number(port || HTTP_PORT) }, allow);
    const upstream = await connected(address, number);
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    upstream.write(head);
    await Promise.all([pipeline(client, upstream), pipeline(upstream, client)]);
  } catch (error) {
    if (client.writable) client.end(`HTTP/1.1 ${statusOf(error)} Refused\r\ncontent-type: text/plain\r\n\r\n${problemOf(error)}\n`);
    else client.destroy();
  }
}

async function connected(host: string, port: number): Promise<Socket> {
  const socket = connect({ host, port, timeout: SANDBOX_LIMITS.connectTimeoutMs });
  socket.once('timeout', () => socket.destroy(new Error('no answer')));
  await once(socket, 'connect');
  socket.setTimeout(0);
  return socket;
}

/** A request that the proxy does not carry. */
class Refusal extends Error {}

const statusOf = (error: unknown): number => (error instanceof Refusal ? 403 : 502);
const problemOf = (error: unknown): string => `perdure sandbox: ${error instanceof Error ? error.message : String(error)}`;

/** The address to connect to. It is looked up once, so that a second answer cannot lead elsewhere. Throws a `Refusal`. */
async function permitted(
  { host, port }: Destination,
  allow: readonly string[],
): Promise<{ readonly address: string; readonly port: number }> {
  const name = host.replaceAll(/^\[|\]$/gu, '').toLowerCase();
  if (!allow.some((entry) => matches(entry, { host: name, port }))) {
    throw new Refusal(`${name}:${port} is not in sandbox.network.allow`);
  }
  if (isIP(name) !== 0) return { address: name, port };
  const addresses = await lookup(name, { all: true });
  const first = addresses.find(({ address }) => !isOwn(address));
  if (!first && name !== 'localhost') throw new Refusal(`${name} leads to this machine, or to a link-local address`);
  return { address: first?.address ?? '127.0.0.1', port };
}

/** True if the entry allows the destination. Ports are 80 and 443 unless the entry names one. */
export function matches(entry: string, { host, port }: Destination): boolean {
  const { pattern = '', named } = /^(?<pattern>\[[^\]]+\]|[^:]+|[0-9a-f:]+)(?::(?<named>\d+))?$/iu.exec(entry)?.groups ?? {};
  if (named === undefined ? port !== HTTP_PORT && port !== HTTPS_PORT : port !== Number(named)) return false;
  const wanted = pattern.replaceAll(/^\[|\]$/gu, '').toLowerCase();
  return wanted.startsWith('*.') ? host.endsWith(wanted.slice(1)) : host === wanted;
}

const LOCAL = new BlockList();
LOCAL.addSubnet('0.0.0.0', 8);
LOCAL.addSubnet('127.0.0.0', 8);
LOCAL.addSubnet('169.254.0.0', 16);
LOCAL.addSubnet('224.0.0.0', 3);
LOCAL.addAddress('::', 'ipv6');
LOCAL.addAddress('::1', 'ipv6');
LOCAL.addSubnet('fe80::', 10, 'ipv6');
LOCAL.addSubnet('ff00::', 8, 'ipv6');

/** True for an address of this machine, and for link-local and multicast ones. */
function isOwn(address: string): boolean {
  const plain = address.replace(/^::ffff:/iu, '');
  const interfaces = Object.values(networkInterfaces()).flatMap((entries) => entries?.map((entry) => entry.address) ?? []);
  return LOCAL.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4') || interfaces.includes(plain);
}
