import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setImmediate as nextPoll } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { StreamWatchdog } from '../../../src/providers/http/stream-watchdog.js';

async function bite(watchdog: StreamWatchdog): Promise<StreamWatchdog['failure']> {
  await once(watchdog.signal, 'abort');
  return watchdog.failure;
}

describe('StreamWatchdog', () => {
  it('silence after the first byte is an idle stream', async () => {
    const watchdog = new StreamWatchdog({ idleMs: 20 });
    watchdog.start();
    expect(await bite(watchdog)).toMatchObject({ type: 'Model.StreamIdle' });
  });

  it('a first byte that does not come is a timeout, and headers alone are no byte', async () => {
    const watchdog = new StreamWatchdog({ idleMs: 60_000, firstByteMs: 20 });
    watchdog.start();
    watchdog.sawHeaders();
    expect(await bite(watchdog)).toMatchObject({ type: 'Model.Timeout', message: expect.stringContaining('first byte') });
  });

  it('once the first byte is there the idle limit holds', async () => {
    const watchdog = new StreamWatchdog({ idleMs: 20, firstByteMs: 60_000 });
    watchdog.start();
    watchdog.sawBytes();
    expect(await bite(watchdog)).toMatchObject({ type: 'Model.StreamIdle' });
  });

  it('an answer that is complete is not held open by bytes that say nothing', async () => {
    const watchdog = new StreamWatchdog({ idleMs: 60_000 });
    watchdog.start();
    watchdog.shortenTo(50);
    const pings = setInterval(() => watchdog.sawBytes(), 5);
    expect(await bite(watchdog)).toMatchObject({ type: 'Model.StreamIdle' });
    clearInterval(pings);
  });

  it('an answer that is complete is waited for no longer than is allowed then', async () => {
    const watchdog = new StreamWatchdog({ idleMs: 60_000 });
    watchdog.start();
    watchdog.shortenTo(20);
    expect(await bite(watchdog)).toMatchObject({ type: 'Model.StreamIdle' });
    const stopped = new StreamWatchdog({ idleMs: 60_000 });
    stopped.start();
    stopped.stop();
    expect(stopped.failure).toBeUndefined();
  });

  it('bytes that came while this process stalled are read before silence is told', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const connected: Promise<Socket[]> = once(server, 'connection');
    const socket = connect(typeof address === 'object' && address ? address.port : 0, '127.0.0.1');
    const [peer] = await connected;
    const watchdog = new StreamWatchdog({ idleMs: 200 });
    socket.on('data', () => watchdog.sawBytes());
    watchdog.start();
    peer?.write('here');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
    for (let poll = 0; poll < 10; poll += 1) await nextPoll();
    expect(watchdog.failure).toBeUndefined();
    expect(await bite(watchdog)).toMatchObject({ type: 'Model.StreamIdle' });
    socket.destroy();
    server.close();
  });
});
