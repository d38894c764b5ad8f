import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../support/use-workers.js';

/** A real S3 server on loopback, with one bucket. */
export interface S3Server {
  readonly endpoint: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  stop(): Promise<void>;
}

/** Starts versitygw over a folder of its own; it is gone, with its folder, after `stop`. */
export async function startS3Server(): Promise<S3Server> {
  const binary = serverBinary();
  const folder = await mkdtemp(join(tmpdir(), 'perdure-s3-'));
  const bucket = 'perdure-test';
  // a folder is a bucket
  await mkdir(join(folder, bucket));
  const [accessKeyId, secretAccessKey] = ['perdure-test', randomBytes(16).toString('hex')];
  const port = await freePort();
  const args = ['--port', `127.0.0.1:${port}`, '--health', '/health', '--region', 'us-east-1', '--quiet', 'posix', folder];
  const env = { PATH: process.env['PATH'], ROOT_ACCESS_KEY: accessKeyId, ROOT_SECRET_KEY: secretAccessKey };
  const server = spawn(binary, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const endpoint = `http://127.0.0.1:${port}`;
  await until(() => answers(`${endpoint}/health`), 'the S3 server');
  return {
    endpoint,
    bucket,
    accessKeyId,
    secretAccessKey,
    stop: async () => {
      await end(server);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** There is no other way to run these tests, so they fail without. */
function serverBinary(): string {
  const named = process.env['PERDURE_TEST_S3_SERVER'];
  if (named) return named;
  throw new Error(
    'PERDURE_TEST_S3_SERVER: name the program versitygw (GOBIN=DIR go install github.com/versity/versitygw/cmd/versitygw@v1.8.0)',
  );
}

async function answers(url: string): Promise<boolean> {
  // refused until it listens
  const response = await fetch(url).catch(() => undefined);
  return response?.ok === true;
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exited = once(server, 'exit');
  server.kill('SIGTERM');
  await exited;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
