import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TcpProxy } from '../../../src/testing/crash/arena/tcp-proxy.js';
import { until } from '../../support/use-workers.js';

describe('TcpProxy', () => {
  let echo: Server;
  let proxy: TcpProxy;
  const clients: Socket[] = [];
  beforeEach(async () => {
    echo = createServer((socket) => void socket.on('error', () => socket.destroy()).pipe(socket)).listen(0, '127.0.0.1');
    await once(echo, 'listening');
    proxy = await TcpProxy.open(() => `127.0.0.1:${portOf(echo)}`);
  });
  afterEach(async () => {
    for (const socket of clients.splice(0)) socket.destroy();
    await proxy.close();
    echo.close();
  });

  it('silent: data stays away while the connection lives, and arrives in order once it is healed', async () => {
    const { socket, received } = await connected();
    socket.write('a');
    await until(() => received() === 'a', 'the echo of a');
    proxy.cut('silent');
    socket.write('b');
    socket.write('c');
    const { socket: late, received: receivedLate } = await connected();
    late.write('d');
    await expect(until(() => received() !== 'a' || receivedLate() !== '', 'data through a silent proxy', 300)).rejects.toThrow(
      'did not come true',
    );
    expect([socket.destroyed, late.destroyed]).toEqual([false, false]);
    proxy.heal();
    await until(() => received() === 'abc' && receivedLate() === 'd', 'the held data');
  });

  it('refusing: every connection ends, and new ones end until it is healed', async () => {
    const { socket } = await connected();
    proxy.cut('refusing');
    await once(socket, 'close');
    const { socket: refused } = await connected();
    if (!refused.destroyed) await once(refused, 'close');
    proxy.heal();
    const { socket: healed, received } = await connected();
    healed.write('x');
    await until(() => received() === 'x', 'the echo of x');
    expect([socket.destroyed, refused.destroyed, healed.destroyed]).toEqual([true, true, false]);
  });

  it('slow: data takes the delay in each direction', async () => {
    const { socket, received } = await connected();
    proxy.slowDown(100);
    const since = Date.now();
    socket.write('a');
    await until(() => received() === 'a', 'the echo of a');
    expect(Date.now() - since).toBeGreaterThanOrEqual(200);
  });

  async function connected(): Promise<{ readonly socket: Socket; readonly received: () => string }> {
    const socket = connect(Number(proxy.address.split(':')[1]), '127.0.0.1');
    clients.push(socket);
    let text = '';
    socket.setEncoding('utf8').on('data', (data: string) => {
      text += data;
    });
    socket.on('error', () => socket.destroy());
    await once(socket, 'connect');
    return { socket, received: () => text };
  }
});

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
