import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'redis';
import { freePort } from '../../../support/free-port.js';
import { endProcess } from '../../../support/local-process.js';
import { until } from '../../../support/use-workers.js';

const PROGRAM = 'redis-server';

/** A real Redis server on a port of the loopback interface, with its data in a folder of its own. */
export interface RedisServer {
  readonly port: number;
  /** With the password, if there is one. */
  readonly url: string;
  /** Sends a command over a connection of its own. */
  command(...command: string[]): Promise<unknown>;
  /** Sends a signal: SIGKILL, as a crash; SIGSTOP and SIGCONT, as a server that does not answer for a while. */
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  /** Starts it again over the same folder and port, after a SIGKILL. */
  restart(): Promise<void>;
  /** Ends it, and removes its folder. */
  stop(): Promise<void>;
}

/** Options of `startRedisServer`. */
export interface RedisServerOptions {
  readonly password?: string;
  /** True: it has each acknowledged entry after a crash. False: it has nothing. @default true */
  readonly isDurable?: boolean;
}

/** Starts a server. Fails if the program is missing: there is no other way to run these tests. */
export async function startRedisServer({ password, isDurable = true }: RedisServerOptions = {}): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'perdure-redis-'));
  const port = await freePort();
  const url = `redis://${password === undefined ? '' : `:${encodeURIComponent(password)}@`}127.0.0.1:${port}`;
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
  args.push('--appendonly', isDurable ? 'yes' : 'no', '--appendfsync', 'always');
  if (password !== undefined) args.push('--requirepass', password);
  let server = await launch(args, port);
  return {
    port,
    url,
    async command(...command) {
      const client = createClient({ url });
      await client.connect();
      try {
        return await client.sendCommand(command);
      } finally {
        client.destroy();
      }
    },
    async signal(name) {
      const ended = name === 'SIGKILL' ? once(server, 'exit') : undefined;
      server.kill(name);
      await ended;
    },
    async restart() {
      server = await launch(args, port);
    },
    async stop() {
      server.kill('SIGCONT');
      await endProcess(server);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function launch(args: readonly string[], port: number): Promise<ChildProcess> {
  const server = spawn(PROGRAM, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  let problem: Error | undefined;
  server.once('error', (error) => {
    problem = new Error(`${PROGRAM} cannot be started; install it with: apt-get install redis-server`, { cause: error });
  });
  await until(async () => {
    if (problem) throw problem;
    if (server.exitCode !== null) throw new Error(`${PROGRAM} ended with ${server.exitCode}`);
    return await answers(port);
  }, 'the Redis server');
  return server;
}

/** True once it has loaded its data. */
async function answers(port: number): Promise<boolean> {
  const socket = createConnection({ port, host: '127.0.0.1' });
  try {
    await once(socket, 'connect');
    socket.write('PING\r\n');
    const [reply] = (await once(socket, 'data')) as [Buffer];
    return /^(?:\+PONG|-NOAUTH)/u.test(reply.toString());
  } catch {
    // refused until it listens
    return false;
  } finally {
    socket.destroy();
  }
}
